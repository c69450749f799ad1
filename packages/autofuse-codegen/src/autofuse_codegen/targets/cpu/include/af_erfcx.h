// requires: af_base.h af_vec.h af_fma.h af_exp.h
// The double kernels of erf and erfc. Below 1: erf(x) = x + x P(x^2), 2^-62 relative, own minimax fit.
//
// erfc(x) for x >= 0.5: e^(-x^2) g / (1 + 2 x), g a polynomial in (x - 4) / (x + 4), 2^-60 relative.
//
// g is our own minimax fit (Remez, 50 digits) of (1 + 2 x) e^(x^2) erfc(x) on [0.49, 28], and x must not exceed 28. The square is split exactly, so
// that e^(-x^2) keeps its last bits.

template <class V> AF_INLINE V af_erfc_positive(V x) {
  const V u = (x - 4.0) / (x + 4.0);
  const V g = af_polynomial(u, 1.836815642757849e-09, -9.674362013189113e-09, -1.7984507843275576e-08,
                            1.0331925670621919e-07, 7.483488205884121e-08, -8.195840954415564e-07, 2.9356598236665757e-07,
                            5.70654566862584e-06, -1.1221874036451664e-05, -2.4398078332326908e-05,
                            0.00015062161803937365, -0.0001992569600878811, -0.0007577732755623522, 0.005031970017678921,
                            -0.01619773405960245, 0.03716751553388106, -0.06633036581207023, 0.0937328349985297,
                            -0.10103906603631063, 0.06809705425468857, 0.015379652102619849, -0.1396211168405625,
                            1.2329951186255526);
  const V square = x * x, lost = af_product_error(x, x, square);
  const af_reduced<V> e = af_exp_reduce(-square);
  const V factor = g / (x + x + 1.0);
  return af_scale(af_fma(factor, af_expm1_reduced(e.r - lost), factor), e.n);
}

template <class V> AF_INLINE V af_erf_polynomial(V t) {
  return af_polynomial(t, 5.960685550217251e-11, -1.1374955241501688e-09, 1.466032841937597e-08, -1.6350396149458015e-07,
                       1.6461008468017625e-06, -1.4925595771383641e-05, 0.00012055331132914722, -0.0008548326981424206,
                       0.005223977624828405, -0.02686617064507787, 0.11283791670954885, -0.3761263890318375,
                       0.1283791670955126);
}
