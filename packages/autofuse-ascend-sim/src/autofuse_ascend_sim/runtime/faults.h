// Crashes, time-outs and calls of exit in kernel code.
#pragma once

namespace af_sim {

// From now on a signal, or the end of the process inside a block, is reported with block and kernel line. A thread that
// runs a block needs an alternate signal stack for this to hold for stack overflows too.
void watch_faults();

}  // namespace af_sim
