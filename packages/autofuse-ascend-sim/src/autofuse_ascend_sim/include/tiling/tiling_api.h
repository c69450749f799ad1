// Host side: how large the temporaries of high-level functions must be.
#pragma once
#include "../af_highlevel_sizes.h"
