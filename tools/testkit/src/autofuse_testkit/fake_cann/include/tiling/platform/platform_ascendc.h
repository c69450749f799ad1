#pragma once
#include "platform/platform_infos_def.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A, L0_B, L0_C, L1, L2, UB, HBM };

class PlatformAscendC {
 public:
  explicit PlatformAscendC(fe::PlatFormInfos* infos) : infos_(infos) {}
  uint32_t GetCoreNumAiv() const { return infos_->vector_cores; }
  void GetCoreMemSize(const CoreMemType& type, uint64_t& bytes) const {
    bytes = type == CoreMemType::UB ? infos_->ub_bytes : 0;
  }

 private:
  fe::PlatFormInfos* infos_;
};

}  // namespace platform_ascendc
