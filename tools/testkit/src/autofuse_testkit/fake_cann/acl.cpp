// A runtime library without a chip: device memory is memory of the host, and launches run in the emulator.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

std::map<unsigned char*, size_t> blocks;  // device memory by address
bool is_initialised = false;
thread_local int device = -1;  // of the calling thread
bool has_stream = false;

void note(const char* format, ...) {
  std::FILE* log = std::fopen(LOG, "a");
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(log, format, arguments);
  va_end(arguments);
  std::fputc('\n', log);
  std::fclose(log);
}

bool owns(const void* address, size_t size) {
  auto at = static_cast<unsigned char*>(const_cast<void*>(address));
  auto next = blocks.upper_bound(at);
  if (next == blocks.begin()) return false;
  --next;
  return at + size <= next->first + next->second;
}

constexpr int BAD = 507899;

}  // namespace

extern "C" {

int aclInit(const char*) {
  note("aclInit");
  if (is_initialised) return 100002;
  is_initialised = true;
  return 0;
}
int aclrtSetDevice(int32_t id) {
  note("aclrtSetDevice %d", id);
  if (!is_initialised || id != 0) return BAD;
  device = id;
  return 0;
}
int aclrtCreateStream(void** stream) {
  note("aclrtCreateStream");
  if (device != 0) return BAD;
  *stream = &has_stream;
  has_stream = true;
  return 0;
}
int aclrtSynchronizeStream(void* stream) { return device == 0 && stream == &has_stream ? 0 : BAD; }
int aclrtMalloc(void** address, size_t size, int) {
  if (device != 0 || size == 0) return BAD;
  size_t taken = size;
  for (const auto& block : blocks) taken += block.second;
  const char* most = std::getenv("FAKE_CANN_BYTES");
  if (most != nullptr && taken > std::strtoull(most, nullptr, 10)) return 207001;  // no memory
  *address = std::calloc(1, size);
  blocks[static_cast<unsigned char*>(*address)] = size;
  note("aclrtMalloc %zu", size);
  return 0;
}
int aclrtFree(void* address) {
  if (device != 0) return BAD;
  if (blocks.erase(static_cast<unsigned char*>(address)) == 0) return BAD;
  std::free(address);
  note("aclrtFree");
  return 0;
}
int aclrtMemset(void* address, size_t most, int32_t value, size_t size) {
  if (size > most || !owns(address, size)) return BAD;
  std::memset(address, value, size);
  note("aclrtMemset %zu", size);
  return 0;
}
int aclrtMemcpy(void* to, size_t most, const void* from, size_t size, int kind) {
  if (size > most || (kind == 1 && !owns(to, size)) || (kind == 2 && !owns(from, size)) || kind < 1 || kind > 2) return BAD;
  std::memcpy(to, from, size);
  note("aclrtMemcpy %zu %s", size, kind == 1 ? "in" : "out");
  return 0;
}
int aclGetDeviceCapability(uint32_t id, int32_t what, int64_t* value) {
  if (id != 0 || what != 1) return BAD;
  *value = 4;  // vector cores
  return 0;
}

// What the stand-in's compiler makes of <<< >>>: the last pointer is the workspace.
int64_t fake_launch(const char* library, const char* soc, const char* entry, uint32_t block_dim, void* stream, void** pointers,
                    int count, const void* tiling, size_t tiling_bytes) {
  note("launch %s on %u blocks", entry, block_dim);
  if (device != 0 || stream != &has_stream) return BAD;
  char folder[] = "/tmp/fake-cann-XXXXXX";
  if (mkdtemp(folder) == nullptr) return BAD;
  std::string command = std::string(PYTHON) + " " + LAUNCH + " " + library + " " + soc + " " + entry + " " +
                        std::to_string(block_dim) + " " + folder + " " + std::to_string(count);
  std::ofstream(std::string(folder) + "/tiling", std::ios::binary).write(static_cast<const char*>(tiling), tiling_bytes);
  for (int i = 0; i < count; ++i) {
    std::ofstream file(std::string(folder) + "/" + std::to_string(i), std::ios::binary);
    auto found = blocks.find(static_cast<unsigned char*>(pointers[i]));
    if (found != blocks.end()) file.write(reinterpret_cast<char*>(found->first), found->second);
  }
  const int status = std::system(command.c_str());
  for (int i = 0; i < count && status == 0; ++i) {
    std::ifstream file(std::string(folder) + "/" + std::to_string(i), std::ios::binary);
    auto found = blocks.find(static_cast<unsigned char*>(pointers[i]));
    if (found != blocks.end()) file.read(reinterpret_cast<char*>(found->first), found->second);
  }
  std::system(("rm -r " + std::string(folder)).c_str());
  return status;
}
}
