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

AddressSpace& space(ggml_backend_buffer_t b) {
    return *static_cast<AddressSpace*>(abi::of(b)->context);
}
StreamedModel& model(ggml_backend_buffer_t b) {
    return *static_cast<StreamedModel*>(abi::of(abi::of(b)->type)->context);
}

void free_buffer(ggml_backend_buffer_t b) {
    delete &space(b);
}
void* base(ggml_backend_buffer_t b) {
    return space(b).data();
}

ggml_backend_buffer_t make_buffer(ggml_backend_buffer_type_t type, std::size_t size, AddressSpace::Access access,
                                  abi::BufferCalls calls) {
    try {
        auto memory = std::make_unique<AddressSpace>(size, access);
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
    return make_buffer(type, size, AddressSpace::Access::kNone, calls);
}

// ---- resident weights: read from the file, whatever pointer llama.cpp offers

std::byte* read_place(ggml_backend_buffer_t b, const ggml_tensor* t) {
    return model(b).resident_weights().find(t->name, ggml_nbytes(t));
}

// The buffer has addresses for all its tensors and memory only for those that are not read by us.
ggml_status resident_init(ggml_backend_buffer_t b, ggml_tensor* t) {
    if (t->view_src != nullptr) return GGML_STATUS_SUCCESS;
    if (std::byte* at = read_place(b, t)) {
        t->data = at;
        return GGML_STATUS_SUCCESS;
    }
    try {
        const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(t->data) - space(b).data());
        space(b).commit(offset, ggml_nbytes(t));
    } catch (const std::exception&) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    return GGML_STATUS_SUCCESS;
}

void resident_set(ggml_backend_buffer_t b, ggml_tensor* t, const void* data, std::size_t offset, std::size_t n) {
    if (t->data == read_place(b, t)) return;
    std::memcpy(static_cast<std::byte*>(t->data) + offset, data, n);
}

void resident_get(ggml_backend_buffer_t, const ggml_tensor* t, void* to, std::size_t offset, std::size_t n) {
    std::memcpy(to, static_cast<const std::byte*>(t->data) + offset, n);
}

void resident_memset(ggml_backend_buffer_t, ggml_tensor* t, std::uint8_t value, std::size_t offset, std::size_t n) {
    std::memset(static_cast<std::byte*>(t->data) + offset, value, n);
}

void resident_clear(ggml_backend_buffer_t, std::uint8_t) {}  // weights alone lie here

ggml_backend_buffer_t alloc_resident(ggml_backend_buffer_type_t type, std::size_t size) {
    abi::BufferCalls calls = {};
    calls.init_tensor = resident_init;
    calls.set_tensor = resident_set;
    calls.get_tensor = resident_get;
    calls.memset_tensor = resident_memset;
    calls.clear = resident_clear;
    return make_buffer(type, size, AddressSpace::Access::kReadWrite, calls);
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
    : lookahead_(settings.lookahead),
      width_(settings.width),
      prefetch_bar_(settings.prefetch_bar),
      resident_(paths, std::move(tensors), settings.store.io_threads, settings.store.direct) {
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
    store_ = std::make_unique<ExpertStore>(ExpertIndex(std::move(layers)), std::move(paths), settings.store, counters_);
    tap_ = std::make_unique<RoutingTap>(store_->index().n_layers(), store_->index().n_experts());
    corrections_ = std::make_unique<RouterCorrections>(store_->index());
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
