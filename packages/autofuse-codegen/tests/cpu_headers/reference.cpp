// Largest error of a kernel against the C library in a wider type: float against double, double against long double.
// Errors are in units of the result's last place; a wrong NaN, infinity or sign of zero counts as 1e30.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace {

template <class W> W sigmoid(W x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
template <class W> W rsqrt(W x) { return 1 / std::sqrt(x); }

// The reference of that name, looked up once and called through its address.
template <class W> auto reference(const std::string &name) -> W (*)(W) {
#define CASE(fn) \
  if (name == #fn) return [](W x) -> W { return std::fn(x); };
  CASE(exp) CASE(exp2) CASE(expm1) CASE(log) CASE(log2) CASE(log10) CASE(log1p) CASE(tanh) CASE(erf) CASE(erfc)
  CASE(sin) CASE(cos) CASE(tan) CASE(asin) CASE(acos) CASE(atan) CASE(sinh) CASE(cosh) CASE(asinh) CASE(acosh)
  CASE(atanh) CASE(sqrt)
  if (name == "rsqrt") return rsqrt<W>;
  return sigmoid<W>;
}

template <class T, class W> double error(T got, W want) {
  constexpr double wrong = 1e30;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : wrong;
  const T rounded = T(want);
  if (std::isinf(got) && std::isinf(rounded)) return std::signbit(got) == std::signbit(rounded) ? 0 : wrong;
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : wrong;
  using limits = std::numeric_limits<T>;
  const auto number = [](W v) { return std::isinf(v) ? std::copysign(std::ldexp(W(1), limits::max_exponent), v) : v; };
  int e;
  std::frexp(number(want), &e);
  e = e < limits::min_exponent ? limits::min_exponent : e > limits::max_exponent ? limits::max_exponent : e;
  return double(std::ldexp(std::fabs(number(W(got)) - number(want)), limits::digits - e));
}

constexpr int BLOCK = 1000;  // no multiple of the lanes: every block ends in a tail

struct Random {
  uint64_t state;
  uint64_t bits() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  }
  double unit() { return double(bits() >> 11) / 9007199254740992.0; }
  template <class T> T any() {
    const uint64_t b = bits() >> (64 - 8 * sizeof(T));
    T t;
    std::memcpy(&t, &b, sizeof t);
    return t;
  }
};

}  // namespace

extern "C" double worst_f32(const char *name, void (*kernel)(const float *, float *, long long), uint32_t first,
                            uint32_t stride, double *at) {
  const auto function = reference<double>(name);
  float in[BLOCK], out[BLOCK];
  double worst = 0;
  for (uint64_t next = first; next < (uint64_t(1) << 32);) {
    int n = 0;
    for (; n < BLOCK && next < (uint64_t(1) << 32); ++n, next += stride) {
      const uint32_t bits = uint32_t(next);
      std::memcpy(&in[n], &bits, 4);
    }
    kernel(in, out, n);
    for (int i = 0; i < n; ++i) {
      const double e = error(out[i], function(double(in[i])));
      if (e > worst) worst = e, *at = in[i];
    }
  }
  return worst;
}

// Arguments: all bit patterns alike, magnitudes from 2^-60 to 2^12 alike, and around 1.
extern "C" double worst_f64(const char *name, void (*kernel)(const double *, double *, long long), long long count,
                            double *at) {
  const auto function = reference<long double>(name);
  Random random{88172645463325252u};
  double in[BLOCK], out[BLOCK], worst = 0;
  for (long long done = 0; done < count; done += BLOCK) {
    for (int i = 0; i < BLOCK; ++i) {
      const double sign = random.unit() < 0.5 ? -1 : 1;
      in[i] = i % 4 == 0   ? random.any<double>()
              : i % 4 == 1 ? sign * std::exp2(random.unit() * 72 - 60)
              : i % 4 == 2 ? sign * (1 + (random.unit() - 0.5) * std::exp2(-random.unit() * 50))
                           : sign * random.unit() * 30;
    }
    kernel(in, out, BLOCK);
    for (int i = 0; i < BLOCK; ++i) {
      const double e = error(out[i], function((long double)(in[i])));
      if (e > worst) worst = e, *at = in[i];
    }
  }
  return worst;
}

template <class T, class W>
double worst_of_two(const std::string &name, void (*kernel)(const T *, const T *, T *, long long), long long count,
                    double *at) {
  Random random{1181783497276652981u};
  const double span = std::log(double(std::numeric_limits<T>::max()));
  T a[BLOCK], b[BLOCK], out[BLOCK];
  double worst = 0;
  for (long long done = 0; done < count; done += BLOCK) {
    for (int i = 0; i < BLOCK; ++i) {
      if (i % 4 == 0 || name == "atan2") {
        a[i] = i % 4 < 2 ? random.any<T>() : T(random.unit() * 4 - 2);
        b[i] = i % 4 == 0 ? random.any<T>() : i % 4 == 1 ? T(a[i] * (random.unit() * 4 - 2)) : T(random.unit() * 4 - 2);
      } else {  // results over the whole range
        const double l = (random.unit() - 0.5) * (i % 4 == 1 ? 2 * span : i % 4 == 2 ? 4.0 : 1e-3);
        a[i] = T(std::exp(l));
        b[i] = T((random.unit() * 2.1 - 1.05) * span / std::log(double(a[i])));
      }
    }
    kernel(a, b, out, BLOCK);
    for (int i = 0; i < BLOCK; ++i) {
      const W want = name == "pow" ? std::pow(W(a[i]), W(b[i])) : std::atan2(W(a[i]), W(b[i]));
      const double e = error(out[i], want);
      if (e > worst) worst = e, at[0] = a[i], at[1] = b[i];
    }
  }
  return worst;
}

extern "C" double worst2_f32(const char *name, void (*kernel)(const float *, const float *, float *, long long),
                             long long count, double *at) {
  return worst_of_two<float, double>(name, kernel, count, at);
}
extern "C" double worst2_f64(const char *name, void (*kernel)(const double *, const double *, double *, long long),
                             long long count, double *at) {
  return worst_of_two<double, long double>(name, kernel, count, at);
}
