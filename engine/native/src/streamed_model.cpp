#include "streamed_model.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "address_space.h"
#include "cpu_library.h"

namespace gannet {
namespace {

constexpr std::size_t kAlignment = 64;  // what ggml's kernels expect of tensors

// A buffer may be freed while its weights are still being read (a load that llama.cpp gives up), and after
// its model (at the end of the program): it keeps the reader, and takes leave of it.
struct Memory {
    AddressSpace space;
    std::shared_ptr<ResidentReader> reader;  // none: nothing is ever read into it
};

AddressSpace& space(ggml_backend_buffer_t b) {
    return static_cast<Memory*>(abi::of(b)->context)->space;
}
StreamedModel& model(ggml_backend_buffer_t b) {
    return *static_cast<StreamedModel*>(abi::of(abi::of(b)->type)->context);
}

void free_buffer(ggml_backend_buffer_t b) {
    const std::unique_ptr<Memory> memory(static_cast<Memory*>(abi::of(b)->context));
    if (memory->reader != nullptr) memory->reader->forget(memory->space.data(), memory->space.size());
}
void* base(ggml_backend_buffer_t b) {
    return space(b).data();
}

ggml_backend_buffer_t make_buffer(ggml_backend_buffer_type_t type, std::size_t size, AddressSpace::Access access,
                                  abi::BufferCalls calls, std::shared_ptr<ResidentReader> reader) {
    try {
        auto memory = std::make_unique<Memory>(Memory{AddressSpace(size, access), std::move(reader)});
        if (access == AddressSpace::Access::kReadWrite && size > 0) memory->space.commit(0, size);
        calls.free_buffer = free_buffer;
        calls.get_base = base;
        ggml_backend_buffer_t buffer = abi::ggml_backend_buffer_init(type, calls, memory.get(), size);
        memory.release();  // owned by the buffer now
        return buffer;
    } catch (const std::exception&) {
        return nullptr;  // llama.cpp reports the failed allocation
    }
}

// ---- experts: nothing is ever stored

void ignore_set(ggml_backend_buffer_t, ggml_tensor*, const void*, std::size_t, std::size_t) {}
void ignore_memset(ggml_backend_buffer_t, ggml_tensor*, std::uint8_t, std::size_t, std::size_t) {}
void ignore_clear(ggml_backend_buffer_t, std::uint8_t) {}
void zero_get(ggml_backend_buffer_t, const ggml_tensor*, void* to, std::size_t, std::size_t n) {
    std::memset(to, 0, n);
}

ggml_backend_buffer_t alloc_experts(ggml_backend_buffer_type_t type, std::size_t size) {
    abi::BufferCalls calls = {};
    calls.set_tensor = ignore_set;
    calls.get_tensor = zero_get;
    calls.memset_tensor = ignore_memset;
    calls.clear = ignore_clear;
    return make_buffer(type, size, AddressSpace::Access::kNone, calls, nullptr);
}

// ---- resident weights: read from the file, whatever pointer llama.cpp offers

void resident_set(ggml_backend_buffer_t b, ggml_tensor* t, const void* data, std::size_t offset, std::size_t n) {
    auto* to = static_cast<std::byte*>(t->data) + offset;
    const TensorPlace* place = model(b).place(t->name);
    if (place == nullptr || offset + n > place->bytes) {
        std::memcpy(to, data, n);
        return;
    }
    model(b).resident().read(place->file, place->offset + offset, n, to);
}

void resident_get(ggml_backend_buffer_t, const ggml_tensor* t, void* to, std::size_t offset, std::size_t n) {
    std::memcpy(to, static_cast<const std::byte*>(t->data) + offset, n);
}

void resident_memset(ggml_backend_buffer_t, ggml_tensor* t, std::uint8_t value, std::size_t offset, std::size_t n) {
    std::memset(static_cast<std::byte*>(t->data) + offset, value, n);
}

void resident_clear(ggml_backend_buffer_t b, std::uint8_t value) {
    std::memset(space(b).data(), value, space(b).size());
}

ggml_backend_buffer_t alloc_resident(ggml_backend_buffer_type_t type, std::size_t size) {
    abi::BufferCalls calls = {};
    calls.set_tensor = resident_set;
    calls.get_tensor = resident_get;
    calls.memset_tensor = resident_memset;
    calls.clear = resident_clear;
    auto* owner = static_cast<StreamedModel*>(abi::of(type)->context);
    return make_buffer(type, size, AddressSpace::Access::kReadWrite, calls, owner->shared_resident());
}

const char* expert_name(ggml_backend_buffer_type_t) {
    return "Gannet experts";
}
const char* resident_name(ggml_backend_buffer_type_t) {
    return "Gannet resident";
}
std::size_t alignment(ggml_backend_buffer_type_t) {
    return kAlignment;
}
bool yes(ggml_backend_buffer_type_t) {
    return true;
}

}  // namespace

StreamedModel::StreamedModel(std::vector<std::string> paths, std::vector<LayerSpec> layers,
                             std::vector<TensorPlace> tensors, ModelSettings settings)
    : settings_(settings),
      lookahead_(settings.lookahead),
      width_(settings.width),
      prefetch_bar_(settings.prefetch_bar) {
    for (TensorPlace& t : tensors) places_[t.name] = std::move(t);
    const ggml_backend_dev_t cpu = cpu_library().device;
    expert_type_.calls.get_name = expert_name;
    expert_type_.calls.alloc_buffer = alloc_experts;
    expert_type_.calls.get_alignment = alignment;
    expert_type_.device = cpu;
    expert_type_.context = this;
    resident_type_.calls.get_name = resident_name;
    resident_type_.calls.alloc_buffer = alloc_resident;
    resident_type_.calls.get_alignment = alignment;
    resident_type_.calls.is_host = yes;
    resident_type_.device = cpu;
    resident_type_.context = this;
    store_ = std::make_unique<ExpertStore>(ExpertIndex(std::move(layers)), paths, settings.store, counters_);
    tap_ = std::make_unique<RoutingTap>(store_->index().n_layers(), store_->index().n_experts());
    corrections_ = std::make_unique<RouterCorrections>(store_->index());
    resident_ = std::make_shared<ResidentReader>(std::move(paths), settings.store.io_threads, settings.store.direct);
}

const TensorPlace* StreamedModel::place(const std::string& tensor) const {
    const auto it = places_.find(tensor);
    return it == places_.end() ? nullptr : &it->second;
}

PartRef StreamedModel::part_of(const ggml_tensor* weights) const {
    const auto ref = store_->index().find(weights->name);
    if (!ref) throw std::logic_error(std::string("not an expert tensor: ") + weights->name);
    return *ref;
}

bool StreamedModel::is_in(const ggml_tensor* t, const abi::BufferType* type) {
    return t != nullptr && t->buffer != nullptr &&
           abi::of(t->buffer)->type == abi::handle(const_cast<abi::BufferType*>(type));
}

}  // namespace gannet
