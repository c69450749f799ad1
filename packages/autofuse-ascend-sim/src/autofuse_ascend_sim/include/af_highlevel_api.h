// High-level functions: composed of vector instructions, most of them with a temporary buffer.
//
//   af_highlevel_math.h        functions of one and two tensors     af_highlevel_fill.h    broadcast, sequences, select
//   af_highlevel_activation.h  sigmoid, gelu and their kin          af_highlevel_logic.h   350: bits, flags, where
//   af_highlevel_reduce.h      reductions along an axis             af_highlevel_uncovered.h  what is missing, by name
//   af_highlevel_scalar.h      350: scalars on either side          af_highlevel_layout.h  transposition, interleaving
//   af_highlevel_scalarcast.h  conversions of single values         af_highlevel_limits.h  largest and smallest values
//   af_highlevel_factors.h     temporary sizes; host side: tiling/tiling_api.h
#pragma once
#include "af_highlevel_activation.h"
#include "af_highlevel_fill.h"
#include "af_highlevel_layout.h"
#include "af_highlevel_limits.h"
#include "af_highlevel_logic.h"
#include "af_highlevel_math.h"
#include "af_highlevel_reduce.h"
#include "af_highlevel_scalar.h"
#include "af_highlevel_scalarcast.h"
#include "af_highlevel_uncovered.h"
