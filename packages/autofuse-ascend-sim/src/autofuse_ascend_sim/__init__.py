"""An Ascend vector core on any machine: Ascend C headers, rule checks and timing."""
