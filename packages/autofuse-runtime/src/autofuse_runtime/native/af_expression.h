/* Size bytecode (autofuse_ir.dims_bytecode) on int64, with every overflow and division by zero seen. */
#ifndef AF_EXPRESSION_H
#define AF_EXPRESSION_H

#include "af_abi.h"

/* Code whose stack depth was checked when the plan was made: it ends, and never pops from an empty stack. */
typedef struct AfExpression {
  enum { AF_EXPRESSION_CONSTANT, AF_EXPRESSION_SYMBOL, AF_EXPRESSION_CODE } form;
  af_i64 value; /* the constant, or the symbol's index */
  const af_i64 *code;
  af_i64 length;
} AfExpression;

void af_expression_init(AfExpression *expression, const af_i64 *code, af_i64 length);

/* Writes the value to *result; returns 0, or -1 when it has none (overflow, division by zero). `stack` is as deep as
   the code needs. */
int af_expression_run(const AfExpression *expression, const af_i64 *symbols, af_i64 *stack, af_i64 *result);

#endif
