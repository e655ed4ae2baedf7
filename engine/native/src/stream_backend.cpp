#include "stream_backend.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>

#include "cpu_library.h"
#include "decode_plan.h"
#include "wave_plan.h"

namespace gannet {
namespace {

constexpr const char* kName = "Gannet";
std::atomic<StreamedModel*> in_setup{nullptr};

// One llama.cpp context. `device` is what its scheduler asks, and knows the model.
struct Instance {
    abi::Backend backend{};
    abi::Device device{};
    StreamedModel* model = nullptr;
    ggml_backend_t cpu = nullptr;
    std::unique_ptr<DecodePlan> decode;
    std::unique_ptr<WavePlan> waves;
};

Instance& instance(ggml_backend_t b) {
    return *static_cast<Instance*>(abi::of(b)->context);
}

void count_tokens(StreamedModel& model, ggml_cgraph* graph) {
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const ggml_tensor* node = ggml_graph_node(graph, i);
        if (node->op != GGML_OP_MUL_MAT_ID || !model.holds_experts(node->src[0])) continue;
        const auto n = static_cast<std::uint32_t>(node->src[2]->ne[1]);
        if (n == 1)
            model.store().begin_token();
        else
            model.store().begin_prompt(n);
        model.tap().begin(n);
        count(n == 1 ? model.counters().tokens_decoded : model.counters().tokens_prompt, n);
        return;
    }
}

ggml_status compute(ggml_backend_t b, ggml_cgraph* graph) {
    Instance& self = instance(b);
    try {
        const Timed timed(self.model->counters().compute_ns);
        count_tokens(*self.model, graph);
        const ggml_status status = self.decode->takes(graph) ? self.decode->run(graph) : self.waves->run(graph);
        self.model->tap().end(status == GGML_STATUS_SUCCESS);
        return status;
    } catch (const std::exception& e) {
        self.model->store().fail(e.what());
        return GGML_STATUS_FAILED;
    }
}

void free_instance(ggml_backend_t b) {
    Instance* self = &instance(b);
    self->decode.reset();
    self->waves.reset();
    if (self->cpu != nullptr) ggml_backend_free(self->cpu);
    delete self;
}

// ---- device

bool supports_nothing(ggml_backend_dev_t, const ggml_tensor*) {
    return false;
}

bool supports_op(ggml_backend_dev_t dev, const ggml_tensor* t) {
    const StreamedModel& model = *static_cast<StreamedModel*>(abi::of(dev)->context);
    if (t->op == GGML_OP_MUL_MAT_ID && model.holds_experts(t->src[0])) {
        RowKernel kernel;
        return RowKernel::find(t->src[0]->type, kernel);
    }
    return ggml_backend_dev_supports_op(cpu_library().device, t);
}

bool supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t type) {
    auto* model = static_cast<StreamedModel*>(abi::of(dev)->context);
    return (model != nullptr && type == model->expert_type()) || ggml_backend_buft_is_host(type);
}

const char* backend_name(ggml_backend_t) {
    return kName;
}
const char* device_name(ggml_backend_dev_t) {
    return kName;
}
const char* device_description(ggml_backend_dev_t) {
    return "experts streamed from the drive";
}
void device_memory(ggml_backend_dev_t, std::size_t* free, std::size_t* total) {
    *free = *total = 0;
}
enum ggml_backend_dev_type device_type(ggml_backend_dev_t) {
    return GGML_BACKEND_DEVICE_TYPE_ACCEL;
}
ggml_backend_buffer_type_t device_buffer_type(ggml_backend_dev_t) {
    return ggml_backend_cpu_buffer_type();
}

void device_props(ggml_backend_dev_t dev, ggml_backend_dev_props* props) {
    std::memset(props, 0, sizeof *props);
    props->name = device_name(dev);
    props->description = device_description(dev);
    props->type = GGML_BACKEND_DEVICE_TYPE_ACCEL;
}

ggml_backend_t make_instance(ggml_backend_dev_t registered) {
    auto self = std::make_unique<Instance>();
    self->model = in_setup.load();
    self->device = *abi::of(registered);
    self->device.context = self->model;
    self->device.calls.supports_op = self->model == nullptr ? supports_nothing : supports_op;
    if (self->model != nullptr) {
        self->cpu = ggml_backend_dev_init(cpu_library().device, nullptr);
        if (self->cpu == nullptr) return nullptr;
        self->decode = std::make_unique<DecodePlan>(*self->model, self->cpu);
        self->waves = std::make_unique<WavePlan>(*self->model, self->cpu);
    }
    static ggml_guid guid = {0x67, 0x61, 0x6e, 0x6e, 0x65, 0x74, 0x2d, 0x65,
                             0x78, 0x70, 0x65, 0x72, 0x74, 0x73, 0x2d, 0x31};
    self->backend.guid = &guid;
    self->backend.calls.get_name = backend_name;
    self->backend.calls.free = free_instance;
    self->backend.calls.graph_compute = compute;
    self->backend.device = abi::handle(&self->device);
    self->backend.context = self.get();
    return abi::handle(&self.release()->backend);
}

// llama.cpp reports a backend that is nullptr; an exception must not cross it.
ggml_backend_t init_backend(ggml_backend_dev_t registered, const char*) {
    try {
        return make_instance(registered);
    } catch (const std::exception&) {
        return nullptr;
    }
}

// ---- registry

abi::Device registered_device{};
abi::Registry registry{};

void set_n_threads(ggml_backend_t b, int n) {
    if (instance(b).cpu != nullptr) cpu_library().set_n_threads(instance(b).cpu, n);
}

void set_abort_callback(ggml_backend_t b, ggml_abort_callback callback, void* data) {
    if (instance(b).cpu != nullptr) cpu_library().set_abort_callback(instance(b).cpu, callback, data);
}

const char* registry_name(ggml_backend_reg_t) {
    return kName;
}
std::size_t device_count(ggml_backend_reg_t) {
    return 1;
}
ggml_backend_dev_t device_at(ggml_backend_reg_t, std::size_t) {
    return abi::handle(&registered_device);
}

void* proc_address(ggml_backend_reg_t, const char* name) {
    if (std::strcmp(name, "ggml_backend_set_n_threads") == 0) return reinterpret_cast<void*>(set_n_threads);
    if (std::strcmp(name, "ggml_backend_set_abort_callback") == 0) return reinterpret_cast<void*>(set_abort_callback);
    return nullptr;
}

void fill_tables() {
    registry.api_version = abi::kApiVersion;
    registry.calls = {registry_name, device_count, device_at, proc_address};
    abi::DeviceCalls& calls = registered_device.calls;
    calls.get_name = device_name;
    calls.get_description = device_description;
    calls.get_memory = device_memory;
    calls.get_type = device_type;
    calls.get_props = device_props;
    calls.init_backend = init_backend;
    calls.get_buffer_type = device_buffer_type;
    calls.supports_op = supports_nothing;
    calls.supports_buft = supports_buft;
    registered_device.registry = abi::handle(&registry);
}

// ---- read-ahead of mapped files

// Loads may overlap: the first one that lives replaces the function, the last one puts it back.
std::mutex map_mutex;
int maps_without_read_ahead = 0;
void* (*cpu_proc_address)(ggml_backend_reg_t, const char*) = nullptr;
bool say_numa() {
    return true;
}
void* proc_address_saying_numa(ggml_backend_reg_t reg, const char* name) {
    if (std::strcmp(name, "ggml_backend_cpu_is_numa") == 0) return reinterpret_cast<void*>(say_numa);
    return cpu_proc_address(reg, name);
}

}  // namespace

void register_backend() {
    static const bool once = [] {
        cpu_library();  // checks the version
        fill_tables();
        ggml_backend_register(abi::handle(&registry));
        return true;
    }();
    (void)once;
}

Setup::Setup(StreamedModel& model) {
    in_setup.store(&model);
}
Setup::~Setup() {
    in_setup.store(nullptr);
}

NoMapReadAhead::NoMapReadAhead() {
    const std::lock_guard<std::mutex> lock(map_mutex);
    if (maps_without_read_ahead++ > 0) return;
    abi::Registry* cpu = abi::of(cpu_library().registry);
    cpu_proc_address = cpu->calls.get_proc_address;
    cpu->calls.get_proc_address = proc_address_saying_numa;
}

NoMapReadAhead::~NoMapReadAhead() {
    const std::lock_guard<std::mutex> lock(map_mutex);
    if (--maps_without_read_ahead > 0) return;
    abi::of(cpu_library().registry)->calls.get_proc_address = cpu_proc_address;
}

}  // namespace gannet
