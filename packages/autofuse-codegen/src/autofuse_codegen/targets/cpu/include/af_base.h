// requires:
// Scalar types, storage wrappers and type traits for generated CPU kernels. No system header is used anywhere.

#define AF_INLINE inline __attribute__((always_inline))

// What runs once a row or tile and is not worth a copy at every place that calls it.
#define AF_ONCE __attribute__((noinline))

// Bytes of one vector register. Sources may define it before this header to force a narrower unit.
#ifndef AF_VECTOR_BYTES
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define AF_VECTOR_BYTES 64
#elif defined(__AVX__)
#define AF_VECTOR_BYTES 32
#else
#define AF_VECTOR_BYTES 16
#endif
#endif

#if defined(__GNUC__) && !defined(__clang__)
// Vectors only ever cross calls that are inlined, so their calling convention cannot matter.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef signed char af_i8;
typedef short af_i16;
typedef int af_i32;
typedef long long af_i64;
typedef unsigned char af_u8;
typedef unsigned short af_u16;
typedef unsigned int af_u32;
typedef unsigned long long af_u64;

// Half and bfloat16 are storage types: widen to float, compute, round back (af_cast.h, af_half.h).
struct af_f16 { af_u16 bits; };
struct af_bf16 { af_u16 bits; };

// Bits OR-ed into a kernel's status word; each names an error that the host raises after the launch.
enum : af_u32 { AF_STATUS_DIVIDE_BY_ZERO = 1u, AF_STATUS_INDEX_OUT_OF_RANGE = 2u, AF_STATUS_NEGATIVE_POWER = 8u };

// Element type that holds a T inside a vector register (bool is stored as 0 or 1 in a byte).
template <class T> struct af_storage { typedef T type; };
template <> struct af_storage<bool> { typedef af_u8 type; };
template <> struct af_storage<af_f16> { typedef af_u16 type; };
template <> struct af_storage<af_bf16> { typedef af_u16 type; };

// Signed and unsigned integer of a given number of bytes.
template <int BYTES> struct af_int_bytes;
template <> struct af_int_bytes<1> { typedef af_i8 s; typedef af_u8 u; };
template <> struct af_int_bytes<2> { typedef af_i16 s; typedef af_u16 u; };
template <> struct af_int_bytes<4> { typedef af_i32 s; typedef af_u32 u; };
template <> struct af_int_bytes<8> { typedef af_i64 s; typedef af_u64 u; };

template <class A, class B> struct af_same { static constexpr bool value = false; };
template <class A> struct af_same<A, A> { static constexpr bool value = true; };
template <class T> constexpr bool af_is_float = af_same<T, float>::value || af_same<T, double>::value;
template <class T> constexpr bool af_is_half = af_same<T, af_f16>::value || af_same<T, af_bf16>::value;
template <class T> constexpr bool af_is_bool = af_same<T, bool>::value;
template <class T> constexpr bool af_is_int = !af_is_float<T> && !af_is_half<T> && !af_is_bool<T>;
template <class T> constexpr bool af_is_signed = af_is_int<T> && (T(-1) < T(0));
template <> constexpr bool af_is_signed<af_f16> = false;
template <> constexpr bool af_is_signed<af_bf16> = false;
