/* Integer helpers for size expressions printed by AutoFuse; af_i64 is a signed 64-bit integer declared before.
 *
 * Division rounds as its name says, for every sign. Sizes are evaluated with checks before code runs on them, so a
 * zero divisor does not occur; it gives 0, and INT64_MIN / -1 gives INT64_MIN, instead of undefined behaviour.
 */
#ifndef AF_SIZES_H
#define AF_SIZES_H

#ifndef AF_INLINE
#define AF_INLINE static inline
#endif

AF_INLINE af_i64 af_floordiv(af_i64 a, af_i64 b) {
  if (b == 0) return 0;
  if (b == -1) return (af_i64)(0ULL - (unsigned long long)a);
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

AF_INLINE af_i64 af_ceildiv(af_i64 a, af_i64 b) {
  if (b == 0) return 0;
  if (b == -1) return (af_i64)(0ULL - (unsigned long long)a);
  return a / b + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);
}

AF_INLINE af_i64 af_mod(af_i64 a, af_i64 b) {
  if (b == 0 || b == -1) return 0;
  af_i64 rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

AF_INLINE af_i64 af_min(af_i64 a, af_i64 b) { return a < b ? a : b; }

AF_INLINE af_i64 af_max(af_i64 a, af_i64 b) { return a > b ? a : b; }

#endif
