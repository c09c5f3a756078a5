#pragma once

#include <shove/autoscaler.hpp>
#include <shove/broadcast.hpp>
#include <shove/broker.hpp>
#include <shove/codec.hpp>
#include <shove/consumer_group.hpp>
#include <shove/delivery.hpp>
#include <shove/error.hpp>
#include <shove/event.hpp>
#include <shove/headers.hpp>
#include <shove/health.hpp>
#include <shove/json.hpp>
#include <shove/outcome.hpp>
#include <shove/publisher.hpp>
#include <shove/topic.hpp>
#include <shove/topology.hpp>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
