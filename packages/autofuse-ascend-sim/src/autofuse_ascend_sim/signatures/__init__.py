"""The Ascend C signatures that kernels may rely on, as data, and the probes that compare headers with them."""
