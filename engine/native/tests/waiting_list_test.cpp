#include "waiting_list.h"

#include <doctest/doctest.h>

#include "predictions.h"

using gannet::Predicted;
using gannet::predicted;
using gannet::WaitingList;

TEST_CASE("of all guesses the one most worth a read is taken first") {
    WaitingList list;
    list.add(predicted(1, 0, 1, 0.5));
    list.add(predicted(2, 0, 1, 0.9));
    list.add(predicted(3, 0, 1, 0.7));
    Predicted best;
    REQUIRE(list.take_best(0.0, best));
    CHECK(best.key == 2);
    REQUIRE(list.take_best(0.0, best));
    CHECK(best.key == 3);
    CHECK(list.size() == 1);
}

TEST_CASE("a guess for a layer that runs sooner goes before as good a one for a later layer") {
    WaitingList list;
    list.add(predicted(1, 2, 2, 0.8));
    list.add(predicted(2, 1, 1, 0.8));
    Predicted best;
    REQUIRE(list.take_best(0.0, best));
    CHECK(best.key == 2);
}

TEST_CASE("guesses under the bar cost no read, and stay for a lower bar") {
    WaitingList list;
    list.add(predicted(1, 0, 1, 0.3));
    Predicted best;
    CHECK(list.worth_reading(0.31) == 0);
    CHECK(list.worth_reading(0.3) == 1);
    CHECK_FALSE(list.take_best(0.31, best));
    CHECK(list.size() == 1);
    CHECK(list.take_best(0.2, best));
    CHECK_FALSE(list.take_best(0.0, best));
}

TEST_CASE("a later guess about the same expert replaces the earlier one") {
    WaitingList list;
    list.add(predicted(1, 0, 2, 0.9));
    list.add(predicted(1, 0, 1, 0.1));
    CHECK(list.size() == 1);
    Predicted best;
    CHECK_FALSE(list.take_best(0.5, best));
}

TEST_CASE("guesses for a layer that has chosen are gone, the others stay") {
    WaitingList list;
    for (std::uint32_t k = 0; k < 6; k++) list.add(predicted(k, k % 2, 1, 0.5));
    list.remove_layer(0);
    CHECK(list.size() == 3);
    Predicted best;
    while (list.take_best(0.0, best)) CHECK(best.layer == 1);
    list.add(predicted(1, 1, 1, 0.5));
    list.clear();
    CHECK(list.size() == 0);
}
