// Python's view of the simulator.
#pragma once

#include <nanobind/nanobind.h>

namespace gannet {

// Adds RoutingLog, SimulationResult, simulate() and belady() to the module.
void bind_simulation(nanobind::module_& m);

}  // namespace gannet
