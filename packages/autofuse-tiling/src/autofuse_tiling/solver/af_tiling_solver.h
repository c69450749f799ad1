// requires:
// Run-time tiling solver of AutoFuse: chooses tile sizes for the sizes of one call. The algorithm is described in
// ALGORITHM.md. Freestanding C++17: no system header, exception, RTTI, allocation, recursion or libm. Compile with
// -ffp-contract=off.
#pragma once

typedef int af_i32;
typedef long long af_i64;

// Linkage of af_solve, the only large function. By default everything is inline and the header is all there is. To
// compile the solver once for many kernels, define AF_TILING_SOLVER_EXTERN where kernels include the header (af_solve
// is then only declared) and AF_TILING_SOLVER_DEFINE in the one source file that defines it.
#if defined(AF_TILING_SOLVER_DEFINE) || defined(AF_TILING_SOLVER_EXTERN)
#define AF_TILING_LINKAGE __attribute__((visibility("hidden")))
#else
#define AF_TILING_LINKAGE inline
#endif
// Out of line and optimised for size: half the compile time, no loss of speed.
#if defined(__clang__)
#define AF_TILING_OUT_OF_LINE __attribute__((noinline, minsize))
#else
#define AF_TILING_OUT_OF_LINE __attribute__((noinline, noclone, cold))
#endif

enum AfTilingLimits : af_i32 {
  AF_TILING_VARIABLES = 16,    // of one model
  AF_TILING_CONSTRAINTS = 16,  // of one model
  AF_TILING_PIPES = 16,        // of one model
  AF_TILING_STACK = 48,        // operands of one bytecode expression
  AF_TILING_MEMO = 32,         // symbols that a memo can hold
  AF_TILING_BUDGET = 600,      // evaluations after which no candidate is started
  AF_TILING_ROUNDS = 4,
  AF_TILING_INTERPOLATIONS = 4,
};
constexpr af_i64 AF_I64_MAX = 9223372036854775807LL;
constexpr af_i64 AF_I64_MIN = -AF_I64_MAX - 1;
constexpr af_i64 AF_TILING_HUGE = 4611686018427387904LL;  // 2^62
constexpr double AF_TILING_WORST = 1.7976931348623157e308;

// ---- Size arithmetic: saturating, total

inline af_i64 af_size_add(af_i64 a, af_i64 b) {
  af_i64 r;
  return __builtin_add_overflow(a, b, &r) ? (b < 0 ? AF_I64_MIN : AF_I64_MAX) : r;
}
inline af_i64 af_size_sub(af_i64 a, af_i64 b) {
  af_i64 r;
  return __builtin_sub_overflow(a, b, &r) ? (b > 0 ? AF_I64_MIN : AF_I64_MAX) : r;
}
inline af_i64 af_size_mul(af_i64 a, af_i64 b) {
  af_i64 r;
  return __builtin_mul_overflow(a, b, &r) ? ((a < 0) != (b < 0) ? AF_I64_MIN : AF_I64_MAX) : r;
}
// Floors towards minus infinity; by zero gives 0.
inline af_i64 af_size_floordiv(af_i64 a, af_i64 b) {
  if (b == 0) return 0;
  if (b == -1) return af_size_sub(0, a);
  const af_i64 q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
inline af_i64 af_size_ceildiv(af_i64 a, af_i64 b) {
  if (b == 0) return 0;
  if (b == -1) return af_size_sub(0, a);
  const af_i64 q = a / b;
  return q * b != a && (a < 0) == (b < 0) ? q + 1 : q;
}
// Has the sign of b; by zero gives a.
inline af_i64 af_size_mod(af_i64 a, af_i64 b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  const af_i64 r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline af_i64 af_size_min(af_i64 a, af_i64 b) { return b < a ? b : a; }
inline af_i64 af_size_max(af_i64 a, af_i64 b) { return a < b ? b : a; }
inline af_i64 af_size_eq(af_i64 a, af_i64 b) { return a == b; }
inline af_i64 af_size_ne(af_i64 a, af_i64 b) { return a != b; }
inline af_i64 af_size_lt(af_i64 a, af_i64 b) { return a < b; }
inline af_i64 af_size_le(af_i64 a, af_i64 b) { return a <= b; }
inline af_i64 af_size_select(af_i64 condition, af_i64 a, af_i64 b) { return condition != 0 ? a : b; }
inline af_i64 af_real_lt(double a, double b) { return a < b; }
inline af_i64 af_real_le(double a, double b) { return a <= b; }
inline double af_real_select(af_i64 condition, double a, double b) { return condition != 0 ? a : b; }
inline double af_real_min(double a, double b) { return b < a ? b : a; }
inline double af_real_max(double a, double b) { return a < b ? b : a; }

// ---- Models

enum AfTilingGroup : af_i32 { AF_TILING_LOCAL = 0, AF_TILING_BLOCK = 1 };

// What a solve returned. `where` is the variable of BOUNDS and the constraint of LOCAL_MEMORY and BLOCKS.
enum AfTilingStatus : af_i32 {
  AF_TILING_SOLVED = 0,
  AF_TILING_BAD_MODEL = 1,
  AF_TILING_BOUNDS = 2,
  AF_TILING_LOCAL_MEMORY = 3,
  AF_TILING_BLOCKS = 4,
};

// What `evaluate` is asked for; it may write every entry of the array it fills, but need only write those asked for.
enum AfTilingAsk : af_i32 {
  AF_TILING_LOCAL_BOUNDS = 0,  // integers[2v], [2v+1]: lower, upper bound of each local variable v
  AF_TILING_BLOCK_BOUNDS = 1,  // the same for block variables
  AF_TILING_LOCAL_USAGE = 2,   // integers[2c], [2c+1]: usage, limit of each local constraint c
  AF_TILING_BLOCK_USAGE = 3,   // the same for block constraints
  AF_TILING_COST = 4,          // reals[0]: head, reals[1 + p]: pipe p
};

struct AfVariable {
  af_i32 group;     // AfTilingGroup
  af_i32 priority;  // 0 is shrunk last
  af_i64 alignment;
};

// Expressions as postfix code, in the order: lower, upper of each variable; usage, limit of each constraint; head;
// pipes. starts[i] .. starts[i + 1] is the code of expression i.
struct AfBytecode {
  const af_i32* code;
  const af_i64* integers;  // constants
  const double* reals;     // constants
  const af_i32* starts;
  af_i32 code_count, integer_count, real_count;
};

struct AfModel;
// `values`: the symbols, then the variables. Pure: the same values give the same answer.
typedef void (*AfEvaluate)(const AfModel* model, af_i32 ask, const af_i64* values, af_i64* integers, double* reals);

struct AfModel {
  const AfVariable* variables;
  const af_i32* constraint_groups;  // AfTilingGroup of each constraint
  AfEvaluate evaluate;              // af_evaluate_bytecode, or compiled functions
  const AfBytecode* bytecode;       // read by af_evaluate_bytecode alone
  af_i32 symbol_count, variable_count, constraint_count, pipe_count;
};

struct AfOutcome {
  double cost;
  af_i64 blocks;  // usage of the first block constraint; 1 where there is none
  af_i32 status, where, model, evaluations;
};

// ---- Bytecode

// clang-format off
enum AfOp : af_i32 {
  AF_OP_INTEGER = 0,  // operand: index into integers
  AF_OP_REAL = 1,     // operand: index into reals
  AF_OP_LOAD = 2,     // operand: index into values
  AF_OP_ADD = 3, AF_OP_SUB = 4, AF_OP_MUL = 5, AF_OP_FLOORDIV = 6, AF_OP_CEILDIV = 7, AF_OP_MOD = 8,
  AF_OP_MIN = 9, AF_OP_MAX = 10,
  AF_OP_EQ = 11, AF_OP_NE = 12, AF_OP_LT = 13, AF_OP_LE = 14,  // push the integer 0 or 1
  AF_OP_SELECT = 15,                                           // condition, then, else (integers)
  AF_OP_TO_REAL = 16,
  AF_OP_REAL_ADD = 17, AF_OP_REAL_SUB = 18, AF_OP_REAL_MUL = 19, AF_OP_REAL_DIV = 20,
  AF_OP_REAL_MIN = 21, AF_OP_REAL_MAX = 22,
  AF_OP_REAL_LT = 23, AF_OP_REAL_LE = 24,  // two reals to the integer 0 or 1
  AF_OP_REAL_SELECT = 25,                  // integer condition; then, else on the stack of reals
  AF_OP_COUNT = 26,
};
// clang-format on

// How an operator changes the stack of integers and the stack of reals: {pops, pushes} of each.
struct AfOpShape {
  signed char integer_pops, integer_pushes, real_pops, real_pushes, operand;
};
inline AfOpShape af_op_shape(af_i32 op) {
  if (op == AF_OP_INTEGER || op == AF_OP_LOAD) return {0, 1, 0, 0, 1};
  if (op == AF_OP_REAL) return {0, 0, 0, 1, 1};
  if (op <= AF_OP_LE) return {2, 1, 0, 0, 0};
  if (op == AF_OP_SELECT) return {3, 1, 0, 0, 0};
  if (op == AF_OP_TO_REAL) return {1, 0, 0, 1, 0};
  if (op <= AF_OP_REAL_MAX) return {0, 0, 2, 1, 0};
  if (op <= AF_OP_REAL_LE) return {0, 1, 2, 0, 0};
  return {1, 0, 2, 1, 0};
}

// Whether expression `index` is well formed: known operators, operands in range, stacks neither under- nor overrun, one
// result of the kind.
AF_TILING_OUT_OF_LINE inline bool af_check_expression(const AfBytecode& b, af_i32 index, bool real,
                                                      af_i32 value_count) {
  const af_i32 begin = b.starts[index], end = b.starts[index + 1];
  if (begin < 0 || end < begin || end > b.code_count) return false;
  af_i32 integers = 0, reals = 0;
  for (af_i32 at = begin; at < end; ++at) {
    const af_i32 op = b.code[at];
    if (op < 0 || op >= AF_OP_COUNT) return false;
    const AfOpShape shape = af_op_shape(op);
    if (shape.operand) {
      if (++at >= end) return false;
      const af_i32 bound = op == AF_OP_LOAD ? value_count : op == AF_OP_REAL ? b.real_count : b.integer_count;
      if (b.code[at] < 0 || b.code[at] >= bound) return false;
    }
    if (integers < shape.integer_pops || reals < shape.real_pops) return false;
    integers += shape.integer_pushes - shape.integer_pops;
    reals += shape.real_pushes - shape.real_pops;
    if (integers > AF_TILING_STACK || reals > AF_TILING_STACK) return false;
  }
  return real ? integers == 0 && reals == 1 : integers == 1 && reals == 0;
}

// Runs one checked expression; its result is written to *integer or *real, by its kind.
inline void af_run_expression(const AfBytecode& b, af_i32 index, const af_i64* values, af_i64* integer, double* real) {
  af_i64 integers[AF_TILING_STACK + 1];
  double reals[AF_TILING_STACK + 1];
  af_i64* i = integers;  // one past the top
  double* r = reals;
  const af_i32* at = b.code + b.starts[index];
  const af_i32* const end = b.code + b.starts[index + 1];
  while (at < end) {
    // clang-format off
    switch (*at++) {
      case AF_OP_INTEGER: *i++ = b.integers[*at++]; break;
      case AF_OP_REAL: *r++ = b.reals[*at++]; break;
      case AF_OP_LOAD: *i++ = values[*at++]; break;
      case AF_OP_ADD: --i; i[-1] = af_size_add(i[-1], *i); break;
      case AF_OP_SUB: --i; i[-1] = af_size_sub(i[-1], *i); break;
      case AF_OP_MUL: --i; i[-1] = af_size_mul(i[-1], *i); break;
      case AF_OP_FLOORDIV: --i; i[-1] = af_size_floordiv(i[-1], *i); break;
      case AF_OP_CEILDIV: --i; i[-1] = af_size_ceildiv(i[-1], *i); break;
      case AF_OP_MOD: --i; i[-1] = af_size_mod(i[-1], *i); break;
      case AF_OP_MIN: --i; i[-1] = af_size_min(i[-1], *i); break;
      case AF_OP_MAX: --i; i[-1] = af_size_max(i[-1], *i); break;
      case AF_OP_EQ: --i; i[-1] = af_size_eq(i[-1], *i); break;
      case AF_OP_NE: --i; i[-1] = af_size_ne(i[-1], *i); break;
      case AF_OP_LT: --i; i[-1] = af_size_lt(i[-1], *i); break;
      case AF_OP_LE: --i; i[-1] = af_size_le(i[-1], *i); break;
      case AF_OP_SELECT: i -= 2; i[-1] = af_size_select(i[-1], i[0], i[1]); break;
      case AF_OP_TO_REAL: *r++ = static_cast<double>(*--i); break;
      case AF_OP_REAL_ADD: --r; r[-1] = r[-1] + *r; break;
      case AF_OP_REAL_SUB: --r; r[-1] = r[-1] - *r; break;
      case AF_OP_REAL_MUL: --r; r[-1] = r[-1] * *r; break;
      case AF_OP_REAL_DIV: --r; r[-1] = r[-1] / *r; break;
      case AF_OP_REAL_MIN: --r; r[-1] = af_real_min(r[-1], *r); break;
      case AF_OP_REAL_MAX: --r; r[-1] = af_real_max(r[-1], *r); break;
      case AF_OP_REAL_LT: r -= 2; *i++ = af_real_lt(r[0], r[1]); break;
      case AF_OP_REAL_LE: r -= 2; *i++ = af_real_le(r[0], r[1]); break;
      case AF_OP_REAL_SELECT: --r; --i; r[-1] = af_real_select(*i, r[-1], *r); break;
      default: break;
    }
    // clang-format on
  }
  if (i != integers) *integer = i[-1];
  if (r != reals) *real = r[-1];
}

// The evaluate function of a model that carries bytecode (checked once by af_check_model).
AF_TILING_OUT_OF_LINE inline void af_evaluate_bytecode(const AfModel* model, af_i32 ask, const af_i64* values,
                                                       af_i64* integers, double* reals) {
  const AfBytecode& b = *model->bytecode;
  const af_i32 constraints = 2 * model->variable_count, head = constraints + 2 * model->constraint_count;
  double no_real;
  af_i64 no_integer;
  if (ask == AF_TILING_COST) {
    for (af_i32 p = 0; p <= model->pipe_count; ++p) af_run_expression(b, head + p, values, &no_integer, reals + p);
    return;
  }
  const bool bounds = ask == AF_TILING_LOCAL_BOUNDS || ask == AF_TILING_BLOCK_BOUNDS;
  const af_i32 group =
      ask == AF_TILING_LOCAL_BOUNDS || ask == AF_TILING_LOCAL_USAGE ? AF_TILING_LOCAL : AF_TILING_BLOCK;
  const af_i32 first = bounds ? 0 : constraints, count = bounds ? model->variable_count : model->constraint_count;
  for (af_i32 n = 0; n < count; ++n) {
    if ((bounds ? model->variables[n].group : model->constraint_groups[n]) != group) continue;
    af_run_expression(b, first + 2 * n, values, integers + 2 * n, &no_real);
    af_run_expression(b, first + 2 * n + 1, values, integers + 2 * n + 1, &no_real);
  }
}

// Whether a model may be solved: counts within the limits, alignments of at least 1, and well-formed bytecode where it
// carries some.
AF_TILING_OUT_OF_LINE inline bool af_check_model(const AfModel* model) {
  if (model->symbol_count < 0 || model->variable_count < 0 || model->variable_count > AF_TILING_VARIABLES) return false;
  if (model->constraint_count < 0 || model->constraint_count > AF_TILING_CONSTRAINTS) return false;
  if (model->pipe_count < 0 || model->pipe_count > AF_TILING_PIPES) return false;
  for (af_i32 v = 0; v < model->variable_count; ++v)
    if (model->variables[v].alignment < 1 ||
        (model->variables[v].group != AF_TILING_LOCAL && model->variables[v].group != AF_TILING_BLOCK))
      return false;
  for (af_i32 c = 0; c < model->constraint_count; ++c)
    if (model->constraint_groups[c] != AF_TILING_LOCAL && model->constraint_groups[c] != AF_TILING_BLOCK) return false;
  if (model->evaluate != af_evaluate_bytecode) return true;
  const af_i32 integers = 2 * (model->variable_count + model->constraint_count),
               values = model->symbol_count + model->variable_count;
  for (af_i32 e = 0; e < integers + 1 + model->pipe_count; ++e)
    if (!af_check_expression(*model->bytecode, e, e >= integers, values)) return false;
  return true;
}

// Solves `count` models of one kernel over the same symbols and keeps the one with the least cost (the first of
// equals). values: in, the symbols; out, behind them, the variables of the chosen model (room for the largest
// variable_count). Returns outcome->status. Models must have passed af_check_model.
AF_TILING_LINKAGE af_i32 af_solve(const AfModel* models, af_i32 count, af_i64* values, AfOutcome* outcome);

// The predicted time of `model` at `values` (symbols, then its variables): head and the slowest pipe.
inline double af_tiling_cost(const AfModel* model, const af_i64* values) {
  af_i64 integers[2 * (AF_TILING_VARIABLES > AF_TILING_CONSTRAINTS ? AF_TILING_VARIABLES : AF_TILING_CONSTRAINTS)];
  double reals[1 + AF_TILING_PIPES];
  model->evaluate(model, AF_TILING_COST, values, integers, reals);
  double worst = model->pipe_count > 0 ? reals[1] : 0.0;
  for (af_i32 p = 1; p < model->pipe_count; ++p)
    if (worst < reals[1 + p]) worst = reals[1 + p];
  const double cost = reals[0] + worst;
  return cost <= AF_TILING_WORST ? cost : AF_TILING_WORST;
}

// A tiling that a search has compared with others; `tiles` are the variables of model `model`.
struct AfRanked {
  double cost;
  af_i64 blocks;
  af_i64 tiles[AF_TILING_VARIABLES];
  af_i32 model;
};

// Keeps, of all tilings that af_solve compares for these models, the `most` of least cost, each once: the first is the
// one that af_solve chooses, and of equals the one that it met first comes first. Returns how many there are.
AF_TILING_LINKAGE af_i32 af_rank(const AfModel* models, af_i32 count, af_i64* values, AfRanked* ranked, af_i32 most);

#ifndef AF_TILING_SOLVER_EXTERN
// ---- Solver

struct AfProbe {
  bool below;
  double level;
};

// What af_rank keeps.
struct AfRanking {
  AfRanked* ranked;
  af_i32 most, count, model;

  AF_TILING_OUT_OF_LINE void offer(const af_i64* tiles, af_i32 tile_count, double cost, af_i64 blocks) {
    for (af_i32 n = 0; n < count; ++n) {
      bool same = ranked[n].model == model;
      for (af_i32 v = 0; same && v < tile_count; ++v) same = ranked[n].tiles[v] == tiles[v];
      if (same) return;
    }
    af_i32 at = count;
    while (at > 0 && cost < ranked[at - 1].cost) --at;
    if (at >= most) return;
    if (count < most) ++count;
    for (af_i32 n = count - 1; n > at; --n) ranked[n] = ranked[n - 1];
    ranked[at].cost = cost;
    ranked[at].blocks = blocks;
    ranked[at].model = model;
    for (af_i32 v = 0; v < tile_count; ++v) ranked[at].tiles[v] = tiles[v];
  }
};

// The state of one solve. `tile` points at the variables inside the caller's values.
struct AfSearch {
  const AfModel* model;
  const af_i64* values;
  af_i64* tile;
  af_i64 low[AF_TILING_VARIABLES], high[AF_TILING_VARIABLES];
  af_i64 pairs[2 * (AF_TILING_VARIABLES > AF_TILING_CONSTRAINTS ? AF_TILING_VARIABLES : AF_TILING_CONSTRAINTS)];
  double reals[1 + AF_TILING_PIPES];
  af_i32 locals[AF_TILING_VARIABLES], blocks[AF_TILING_VARIABLES];  // in order of importance
  af_i32 local_count, block_count, first_block, evaluations, status, where;
  double cost;
  AfRanking* ranking;  // null where only the best is wanted

  af_i64 best[AF_TILING_VARIABLES], base[AF_TILING_VARIABLES];
  double best_cost;
  af_i64 best_cap, best_blocks;
  bool improved;

  af_i64 alignment(af_i32 v) const { return model->variables[v].alignment; }
  af_i32 priority(af_i32 v) const { return model->variables[v].priority; }
  bool fail(af_i32 code, af_i32 index) {
    status = code;
    where = index;
    return false;
  }

  AF_TILING_OUT_OF_LINE void begin(const AfModel* m, af_i64* all_values) {
    model = m;
    values = all_values;
    tile = all_values + m->symbol_count;
    local_count = block_count = evaluations = status = where = 0;
    first_block = -1;
    for (af_i32 v = 0; v < m->variable_count; ++v) {
      tile[v] = 1;
      af_i32* order = m->variables[v].group == AF_TILING_LOCAL ? locals : blocks;
      af_i32 at = m->variables[v].group == AF_TILING_LOCAL ? local_count++ : block_count++;
      for (; at > 0 && priority(order[at - 1]) > priority(v); --at) order[at] = order[at - 1];
      order[at] = v;
    }
    for (af_i32 c = m->constraint_count - 1; c >= 0; --c)
      if (m->constraint_groups[c] == AF_TILING_BLOCK) first_block = c;
  }

  AF_TILING_OUT_OF_LINE bool read_bounds(af_i32 ask, const af_i32* order, af_i32 count) {
    model->evaluate(model, ask, values, pairs, reals);
    for (af_i32 n = 0; n < count; ++n) {
      const af_i32 v = order[n];
      const af_i64 lower = af_size_max(1, pairs[2 * v]), given = af_size_min(pairs[2 * v + 1], AF_TILING_HUGE);
      const af_i64 upper = given < 1 ? lower : given;
      if (upper < lower) return fail(AF_TILING_BOUNDS, v);
      high[v] = upper;
      low[v] = af_size_min(af_size_mul(af_size_ceildiv(lower, alignment(v)), alignment(v)), upper);
    }
    return true;
  }

  af_i64 snap(af_i32 v, af_i64 x) const {
    if (x >= high[v]) return high[v];
    return af_size_max(low[v], af_size_mul(af_size_floordiv(x, alignment(v)), alignment(v)));
  }

  AF_TILING_OUT_OF_LINE AfProbe local_check() {
    ++evaluations;
    model->evaluate(model, AF_TILING_LOCAL_USAGE, values, pairs, reals);
    AfProbe probe = {true, 0.0};
    for (af_i32 c = 0; c < model->constraint_count; ++c) {
      if (model->constraint_groups[c] != AF_TILING_LOCAL) continue;
      const af_i64 usage = pairs[2 * c], limit = pairs[2 * c + 1];
      const double level =
          limit <= 0 ? (usage <= limit ? 0.0 : 2.0) : static_cast<double>(usage) / static_cast<double>(limit);
      if (probe.level < level) probe.level = level;
      if (usage > limit && probe.below) probe.below = fail(AF_TILING_LOCAL_MEMORY, c);
    }
    return probe;
  }

  // below: too many blocks.
  AF_TILING_OUT_OF_LINE AfProbe block_check(af_i64 cap) {
    ++evaluations;
    model->evaluate(model, AF_TILING_BLOCK_USAGE, values, pairs, reals);
    AfProbe probe = {false, 2.0};
    for (af_i32 c = 0; c < model->constraint_count; ++c) {
      if (model->constraint_groups[c] != AF_TILING_BLOCK) continue;
      const af_i64 usage = pairs[2 * c],
                   limit = c == first_block ? af_size_min(pairs[2 * c + 1], cap) : pairs[2 * c + 1];
      const double level = usage <= 0 ? 2.0 : static_cast<double>(limit) / static_cast<double>(usage);
      if (level < probe.level) probe.level = level;
      if (usage > limit && !probe.below) probe.below = !fail(AF_TILING_BLOCKS, c);
    }
    return probe;
  }

  // ---- Boundaries
  // What is searched: each index is a state of the tiles, and each state is probed.
  struct Line {
    enum Kind { LOCKSTEP, TILE, ITERATIONS, PIECES } kind;
    af_i32 v, first, last;  // the variable, or the positions of the variables in `locals` (but `v`, which is pinned)
    af_i64 unit, bound;     // step of the index; cap on blocks (ITERATIONS) or target of pieces (PIECES)
  };

  AF_TILING_OUT_OF_LINE AfProbe probe(const Line& line, af_i64 index) {
    const af_i64 x = af_size_mul(line.unit, index);
    if (line.kind == Line::LOCKSTEP) {
      place(line.first, line.last, line.v, x);
      return local_check();
    }
    tile[line.v] = snap(line.v, x);
    if (line.kind == Line::TILE) return local_check();
    if (line.kind == Line::ITERATIONS) return block_check(line.bound);
    const af_i64 pieces = most_blocks();
    return {pieces > line.bound, pieces_level(pieces, line.bound)};
  }

  static double pieces_level(af_i64 pieces, af_i64 target) {
    return pieces <= 0 ? 2.0 : static_cast<double>(target) / static_cast<double>(pieces);
  }

  // Last index that is below, given that `lo` is and `hi` is not. A level grows with the index and crosses 1 where
  // below ends.
  AF_TILING_OUT_OF_LINE af_i64 boundary(const Line& line, af_i64 lo, double lo_level, af_i64 hi, double hi_level) {
    for (af_i32 step = 0; hi - lo > 1; ++step) {
      af_i64 index = lo + (hi - lo) / 2;
      if (step < AF_TILING_INTERPOLATIONS && hi_level > lo_level) {
        const double part = (1.0 - lo_level) / (hi_level - lo_level);
        index = lo + static_cast<af_i64>(part * static_cast<double>(hi - lo));
        index = af_size_max(lo + 1, af_size_min(index, hi - 1));
      }
      const AfProbe found = probe(line, index);
      if (found.below) {
        lo = index;
        lo_level = found.level;
      } else {
        hi = index;
        hi_level = found.level;
      }
    }
    return lo;
  }

  // ---- Phase A
  AF_TILING_OUT_OF_LINE void place(af_i32 first, af_i32 last, af_i32 pinned, af_i64 cap) {
    for (af_i32 n = first; n < last; ++n)
      if (locals[n] != pinned) tile[locals[n]] = snap(locals[n], cap);
  }

  AF_TILING_OUT_OF_LINE void grow(af_i32 v) {
    const af_i64 present = tile[v];
    if (present == high[v]) return;
    tile[v] = high[v];
    const AfProbe top = local_check();
    if (top.below) return;
    tile[v] = present;
    const AfProbe here = local_check();
    const af_i64 unit = alignment(v);
    const Line line = {Line::TILE, v, 0, 0, unit, 0};
    const af_i64 index = boundary(line, present / unit, here.level, af_size_ceildiv(high[v], unit), top.level);
    tile[v] = snap(v, af_size_mul(unit, index));
  }

  AF_TILING_OUT_OF_LINE bool fit(af_i32 pinned, af_i64 value) {
    for (af_i32 n = 0; n < local_count; ++n) tile[locals[n]] = locals[n] == pinned ? value : high[locals[n]];
    AfProbe top = local_check();
    if (top.below) return true;
    for (af_i32 last = local_count; last > 0;) {
      af_i32 first = last - 1;
      while (first > 0 && priority(locals[first - 1]) == priority(locals[last - 1])) --first;
      af_i32 members = 0;
      af_i64 unit = AF_I64_MAX, largest = 0;
      for (af_i32 n = first; n < last; ++n) {
        if (locals[n] == pinned) continue;
        ++members;
        unit = af_size_min(unit, alignment(locals[n]));
        largest = af_size_max(largest, high[locals[n]]);
      }
      if (members > 0) {
        place(first, last, pinned, 0);
        const AfProbe bottom = local_check();
        if (bottom.below) {
          const Line line = {Line::LOCKSTEP, pinned, first, last, unit, 0};
          const af_i64 index = boundary(line, 0, bottom.level, af_size_ceildiv(largest, unit), top.level);
          place(first, last, pinned, af_size_mul(unit, index));
          for (af_i32 n = first; n < local_count; ++n)
            if (locals[n] != pinned && !(members == 1 && n < last)) grow(locals[n]);
          return true;
        }
        top = bottom;
      }
      last = first;
    }
    return false;
  }

  // ---- Phase B
  AF_TILING_OUT_OF_LINE bool least_iterations() {
    if (!read_bounds(AF_TILING_BLOCK_BOUNDS, blocks, block_count)) return false;
    for (af_i32 n = 0; n < block_count; ++n) tile[blocks[n]] = low[blocks[n]];
    return true;
  }

  AF_TILING_OUT_OF_LINE bool settle(af_i64 cap) {
    if (!least_iterations()) return false;
    AfProbe bottom = block_check(cap);
    bool holds = !bottom.below;
    for (af_i32 n = 0; n < block_count && !holds; ++n) {
      const af_i32 v = blocks[n];
      tile[v] = high[v];
      const AfProbe top = block_check(cap);
      if (top.below) {
        bottom = top;
        continue;
      }
      const af_i64 unit = alignment(v);
      const Line line = {Line::ITERATIONS, v, 0, 0, unit, cap};
      const af_i64 index = boundary(line, low[v] / unit, bottom.level, af_size_ceildiv(high[v], unit), top.level);
      tile[v] = snap(v, af_size_mul(unit, index + 1));
      holds = true;
    }
    if (!holds) return false;
    ++evaluations;
    cost = af_tiling_cost(model, values);
    if (ranking != nullptr) offer();
    return true;
  }

  // Blocks are counted beside the search, which takes the same steps whether it is ranked or not.
  AF_TILING_OUT_OF_LINE void offer() {
    const af_i32 before = evaluations;
    if (first_block >= 0) block_check(AF_TILING_HUGE);
    evaluations = before;
    ranking->offer(tile, model->variable_count, cost, first_block >= 0 ? pairs[2 * first_block] : 1);
  }

  // Blocks with the fewest iterations each; -1 where a bound is impossible.
  AF_TILING_OUT_OF_LINE af_i64 most_blocks() {
    if (!least_iterations()) return -1;
    block_check(AF_TILING_HUGE);
    return pairs[2 * first_block];
  }

  // ---- Trade-off
  bool spent() const { return evaluations >= AF_TILING_BUDGET; }
  void restore(const af_i64* from) {
    for (af_i32 n = 0; n < local_count; ++n) tile[locals[n]] = from[locals[n]];
  }
  AF_TILING_OUT_OF_LINE void accept(af_i64 cap) {
    best_cost = cost;
    best_cap = cap;
    best_blocks = 1;
    if (first_block >= 0) {
      block_check(cap);
      best_blocks = pairs[2 * first_block];
    }
    for (af_i32 v = 0; v < model->variable_count; ++v) best[v] = tile[v];
    improved = true;
  }
  void consider(af_i64 cap) {
    if (settle(cap) && cost < best_cost) accept(cap);
  }

  AF_TILING_OUT_OF_LINE void resize(af_i32 v) {
    for (af_i32 move = 0; move < 4 && !spent(); ++move) {
      const af_i64 now = best[v];
      const af_i64 wanted = move == 0 ? now / 2 : move == 1 ? now / 4 : move == 2 ? af_size_mul(now, 2) : high[v];
      const af_i64 x = snap(v, wanted);
      if (x != now && fit(v, x)) consider(best_cap);
    }
  }

  AF_TILING_OUT_OF_LINE void spread(af_i32 v) {
    if (spent() || first_block < 0 || best_cap < 1) return;
    restore(best);
    grow(v);
    const af_i64 top = tile[v], unit = alignment(v), most = most_blocks(), cap = best_cap;
    const af_i64 rounds = af_size_max(1, af_size_ceildiv(most, cap));
    af_i64 before = 0;
    for (af_i32 n = 0; n < 5 && !spent(); ++n) {
      const af_i64 target = n == 0 ? most : af_size_mul(af_size_add(rounds, n - 1), cap);
      if (n > 0 && target == before) continue;
      before = target;
      restore(best);
      const Line line = {Line::PIECES, v, 0, 0, unit, target};
      const af_i64 bottom = low[v] / unit;
      const AfProbe lowest = probe(line, bottom);
      if (lowest.below) {
        const double top_level = pieces_level(most, target);
        const af_i64 index = boundary(line, bottom, lowest.level, af_size_ceildiv(top, unit), top_level);
        tile[v] = af_size_min(top, snap(v, af_size_mul(unit, index + 1)));
      }
      if (local_check().below) consider(best_cap);
    }
  }

  AF_TILING_OUT_OF_LINE void try_caps(af_i64 limit, bool with_base) {
    if (first_block < 0) return;
    const af_i64 fewer = af_size_sub(best_blocks, 1), twice = af_size_min(af_size_mul(best_blocks, 2), limit);
    const af_i64 caps[6] = {best_blocks / 2, af_size_sub(best_blocks, best_blocks / 4), fewer, twice, 1, limit};
    for (af_i64 cap : caps) {
      for (af_i32 n = 0; n < (with_base ? 2 : 1); ++n) {
        if (cap < 1 || cap == best_cap || spent()) continue;
        restore(n == 0 ? best : base);
        consider(cap);
      }
    }
  }

  AF_TILING_OUT_OF_LINE void neighbours(af_i32 v) {
    for (af_i32 move = 0; move < 2 && !spent(); ++move) {
      const af_i64 x = snap(v, move == 0 ? best[v] - 1 : af_size_add(best[v], alignment(v)));
      if (x == best[v]) continue;
      restore(best);
      tile[v] = x;
      if (local_check().below) consider(best_cap);
    }
  }

  // Leaves the solution in `best` and its description in `outcome`.
  AF_TILING_OUT_OF_LINE void solve(af_i32 index, AfOutcome* outcome) {
    const bool fits = read_bounds(AF_TILING_LOCAL_BOUNDS, locals, local_count) && fit(-1, 0);
    if (fits && settle(AF_TILING_HUGE)) {
      status = AF_TILING_SOLVED;
      accept(AF_TILING_HUGE);
      const af_i64 limit = first_block >= 0 ? af_size_min(pairs[2 * first_block + 1], AF_TILING_HUGE) : AF_TILING_HUGE;
      best_cap = limit;
      for (af_i32 v = 0; v < model->variable_count; ++v) base[v] = best[v];
      for (af_i32 round = 0; round < AF_TILING_ROUNDS && improved; ++round) {
        improved = false;
        for (af_i32 n = local_count - 1; n >= 0; --n) {
          resize(locals[n]);
          spread(locals[n]);
        }
        try_caps(limit, round == 0);
        for (af_i32 n = local_count - 1; n >= 0; --n) neighbours(locals[n]);
      }
      *outcome = {best_cost, best_blocks, AF_TILING_SOLVED, 0, index, evaluations};
    } else {
      *outcome = {AF_TILING_WORST, 0, status, where, index, evaluations};
    }
  }
};

AF_TILING_LINKAGE af_i32 af_solve(const AfModel* models, af_i32 count, af_i64* values, AfOutcome* outcome) {
  AfSearch search;
  search.ranking = nullptr;
  af_i64 chosen[AF_TILING_VARIABLES];
  af_i32 evaluations = 0;
  *outcome = {AF_TILING_WORST, 0, AF_TILING_BAD_MODEL, 0, 0, 0};
  for (af_i32 m = 0; m < count; ++m) {
    AfOutcome found;
    search.begin(models + m, values);
    search.solve(m, &found);
    evaluations += found.evaluations;
    const bool better =
        found.status == AF_TILING_SOLVED && (outcome->status != AF_TILING_SOLVED || found.cost < outcome->cost);
    if (m != 0 && !better) continue;
    *outcome = found;
    if (better)
      for (af_i32 v = 0; v < models[m].variable_count; ++v) chosen[v] = search.best[v];
  }
  outcome->evaluations = evaluations;
  if (outcome->status == AF_TILING_SOLVED)
    for (af_i32 v = 0; v < models[outcome->model].variable_count; ++v)
      values[models[outcome->model].symbol_count + v] = chosen[v];
  return outcome->status;
}

AF_TILING_LINKAGE af_i32 af_rank(const AfModel* models, af_i32 count, af_i64* values, AfRanked* ranked, af_i32 most) {
  AfRanking ranking = {ranked, most, 0, 0};
  AfSearch search;
  search.ranking = &ranking;
  for (; ranking.model < count; ++ranking.model) {
    AfOutcome found;
    search.begin(models + ranking.model, values);
    search.solve(ranking.model, &found);
  }
  return ranking.count;
}

#endif  // AF_TILING_SOLVER_EXTERN

// ---- Memo

// The last answer, owned by the caller (one per thread or behind the caller's lock). Zero-initialise it.
struct AfTilingMemo {
  const AfModel* models;
  af_i32 count, filled;
  AfOutcome outcome;
  af_i64 symbols[AF_TILING_MEMO], tiles[AF_TILING_VARIABLES];
};

// As af_solve; the same symbols as last time cost a comparison. Models with more than AF_TILING_MEMO symbols are always
// solved.
inline af_i32 af_solve_memo(const AfModel* models, af_i32 count, af_i64* values, AfTilingMemo* memo,
                            AfOutcome* outcome) {
  const af_i32 symbols = count > 0 ? models->symbol_count : 0;
  bool same = memo->filled && memo->models == models && memo->count == count;
  for (af_i32 s = 0; same && s < symbols; ++s) same = memo->symbols[s] == values[s];
  if (same) {
    *outcome = memo->outcome;
    if (outcome->status == AF_TILING_SOLVED)
      for (af_i32 v = 0; v < models[outcome->model].variable_count; ++v) values[symbols + v] = memo->tiles[v];
    return outcome->status;
  }
  af_solve(models, count, values, outcome);
  memo->filled = symbols <= AF_TILING_MEMO;
  if (!memo->filled) return outcome->status;
  memo->models = models;
  memo->count = count;
  memo->outcome = *outcome;
  for (af_i32 s = 0; s < symbols; ++s) memo->symbols[s] = values[s];
  if (outcome->status == AF_TILING_SOLVED)
    for (af_i32 v = 0; v < models[outcome->model].variable_count; ++v) memo->tiles[v] = values[symbols + v];
  return outcome->status;
}
