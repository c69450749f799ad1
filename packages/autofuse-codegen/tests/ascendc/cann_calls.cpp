// Calls the entry points that graph engines look for, and prints what they answer.
#include <cstdio>
#include <vector>

#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"

extern "C" {
ge::graphStatus TilingParse(gert::TilingParseContext* context);
ge::graphStatus TilingFunc(gert::TilingContext* context);
ge::graphStatus GetSymbolTilingCacheKey(gert::TilingContext* context);
ge::graphStatus DfxInputSymbolInfo(gert::TilingContext* context, char* text, size_t size);
ge::graphStatus InferShape(gert::InferShapeContext* context);
void GetKernelBin(std::vector<char>& kernel_bin);
}

int main(int argc, char** argv) {
  (void)argc;
  int64_t n = 0, m = 0;
  std::sscanf(argv[1], "%ld,%ld", &n, &m);
  fe::PlatFormInfos chip;
  chip.vector_cores = 40;
  chip.ub_bytes = 192 * 1024;
  gert::TilingParseContext parse;
  std::printf("parse without platform %d\n", TilingParse(&parse) == ge::GRAPH_SUCCESS);
  parse.platform = &chip;
  std::printf("parse %d\n", TilingParse(&parse) == ge::GRAPH_SUCCESS);

  gert::TilingContext context;
  context.inputs[0].storage.SetDimNum(2);
  context.inputs[0].storage.SetDim(0, n);
  context.inputs[0].storage.SetDim(1, m);
  context.inputs[1].storage.SetDimNum(1);
  context.inputs[1].storage.SetDim(0, m);
  std::printf("tile without compile info %d\n", TilingFunc(&context) == ge::GRAPH_SUCCESS);
  context.compile_info = parse.compiled_info;
  std::printf("tile %d\n", TilingFunc(&context) == ge::GRAPH_SUCCESS);
  std::printf("block_dim %u\ntiling_key %lu\nworkspace %zu\n", context.block_dim, context.tiling_key, context.workspace);
  const uint32_t* const head = reinterpret_cast<const uint32_t*>(context.tiling);
  std::printf("data %u %u %u %u %u\n", head[0], head[1], head[2], head[3], head[4]);

  gert::TypedContinuousVector<int64_t> key;
  std::printf("key without output %d\n", GetSymbolTilingCacheKey(&context) == ge::GRAPH_SUCCESS);
  context.output = &key;
  bool is_fine = GetSymbolTilingCacheKey(&context) == ge::GRAPH_SUCCESS;
  std::printf("key %d %zu %ld %ld\n", is_fine, key.GetSize(), key.GetData()[0], key.GetData()[1]);
  char text[100] = "";
  is_fine = DfxInputSymbolInfo(&context, text, sizeof(text)) == ge::GRAPH_SUCCESS;
  std::printf("symbols %d %s\n", is_fine, text);

  gert::InferShapeContext shapes;
  shapes.inputs[0] = context.inputs[0].storage;
  shapes.inputs[1] = context.inputs[1].storage;
  std::printf("infer %d\n", InferShape(&shapes) == ge::GRAPH_SUCCESS);
  std::printf("shape %zu %ld %ld\n", shapes.outputs[0].GetDimNum(), shapes.outputs[0].GetDim(0), shapes.outputs[0].GetDim(1));

  std::vector<char> binary;
  GetKernelBin(binary);
  std::printf("binary %zu %d %d\n", binary.size(), binary[0], binary[2]);

  shapes.has_shapes = context.has_shapes = false;
  std::printf("without shapes %d %d\n", InferShape(&shapes) == ge::GRAPH_SUCCESS, TilingFunc(&context) == ge::GRAPH_SUCCESS);
  return 0;
}
