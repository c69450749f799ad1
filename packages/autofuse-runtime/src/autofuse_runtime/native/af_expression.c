#include "af_expression.h"

enum Op {
  OP_CONST = 1,
  OP_SYM,
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_NEG,
  OP_FLOORDIV,
  OP_CEILDIV,
  OP_MOD,
  OP_MIN,
  OP_MAX,
  OP_EQ,
  OP_NE,
  OP_LE,
  OP_LT,
  OP_AND,
  OP_OR,
  OP_NOT,
  OP_JZ,
  OP_JMP
};

#define INT64_LEAST (-0x7fffffffffffffffLL - 1)

void af_expression_init(AfExpression *expression, const af_i64 *code, af_i64 length) {
  *expression = (AfExpression){.form = AF_EXPRESSION_CODE, .code = code, .length = length};
  if (length == 2 && code[0] == OP_CONST) {
    expression->form = AF_EXPRESSION_CONSTANT;
    expression->value = code[1];
  } else if (length == 2 && code[0] == OP_SYM) {
    expression->form = AF_EXPRESSION_SYMBOL;
    expression->value = code[1];
  }
}

static int divide(af_i64 op, af_i64 a, af_i64 b, af_i64 *result) {
  if (b == 0 || (a == INT64_LEAST && b == -1 && op != OP_MOD)) return -1;
  if (op == OP_MOD) {
    const af_i64 rest = b == -1 ? 0 : a % b;
    *result = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    return 0;
  }
  const af_i64 quotient = a / b;
  const int inexact = a % b != 0, negative = (a < 0) != (b < 0);
  *result = op == OP_FLOORDIV ? quotient - (inexact && negative) : quotient + (inexact && !negative);
  return 0;
}

static int apply(af_i64 op, af_i64 a, af_i64 b, af_i64 *result) {
  switch (op) {
    case OP_ADD: return __builtin_add_overflow(a, b, result) ? -1 : 0;
    case OP_SUB: return __builtin_sub_overflow(a, b, result) ? -1 : 0;
    case OP_MUL: return __builtin_mul_overflow(a, b, result) ? -1 : 0;
    case OP_FLOORDIV:
    case OP_CEILDIV:
    case OP_MOD: return divide(op, a, b, result);
    case OP_MIN: *result = a < b ? a : b; return 0;
    case OP_MAX: *result = a > b ? a : b; return 0;
    case OP_EQ: *result = a == b; return 0;
    case OP_NE: *result = a != b; return 0;
    case OP_LE: *result = a <= b; return 0;
    case OP_LT: *result = a < b; return 0;
    case OP_AND: *result = a && b; return 0;
    case OP_OR: *result = a || b; return 0;
    default: return -1;
  }
}

static int run_code(const af_i64 *code, af_i64 length, const af_i64 *symbols, af_i64 *stack, af_i64 *result) {
  af_i64 *top = stack - 1;
  for (af_i64 at = 0; at < length;) {
    const af_i64 op = code[at++];
    switch (op) {
      case OP_CONST: *++top = code[at++]; break;
      case OP_SYM: *++top = symbols[code[at++]]; break;
      case OP_JZ: at = *top-- ? at + 1 : code[at]; break;
      case OP_JMP: at = code[at]; break;
      case OP_NOT: *top = !*top; break;
      case OP_NEG:
        if (__builtin_sub_overflow(0LL, *top, top)) return -1;
        break;
      default:
        --top;
        if (apply(op, top[0], top[1], top)) return -1;
    }
  }
  *result = *top;
  return 0;
}

int af_expression_run(const AfExpression *expression, const af_i64 *symbols, af_i64 *stack, af_i64 *result) {
  switch (expression->form) {
    case AF_EXPRESSION_CONSTANT: *result = expression->value; return 0;
    case AF_EXPRESSION_SYMBOL: *result = symbols[expression->value]; return 0;
    default: return run_code(expression->code, expression->length, symbols, stack, result);
  }
}
