// Queues: who owns which buffer, and the synchronisation that handing it over implies.
#include <algorithm>

#include "access.h"
#include "errors.h"
#include "events.h"
#include "lifetime.h"

namespace af_sim {
namespace {

using AscendC::TPosition;

pipe_t producer_of(TPosition position) {
    return position == TPosition::VECIN || position == TPosition::GM ? PIPE_MTE2 : PIPE_V;
}
pipe_t consumer_of(TPosition position) {
    return position == TPosition::VECOUT || position == TPosition::GM ? PIPE_MTE3 : PIPE_V;
}

Queue& queue_at(uint16_t id) {
    if (id == kNoQueue) fail(Rule::Usage, nullptr, -1, -1, "the queue has no buffers: InitBuffer was not called for it");
    return core->queues[id];
}

QueueBuffer& buffer_of(uint16_t queue, const View& view, const char* verb) {
    if (!view.is_set || view.buffer == 0 || core->buffers[view.buffer - 1].queue != queue) {
        fail(Rule::QueueOrder, "tensor", -1, -1, "%s: the tensor was not allocated from this queue", verb);
    }
    QueueBuffer& buffer = core->buffers[view.buffer - 1];
    if (buffer.generation != view.generation) {
        fail_with(buffer.last_use, Rule::QueueOrder, "tensor", -1, -1, "%s: the tensor was freed before", verb);
    }
    return buffer;
}

// Queues hold one event id of eight while a tensor waits; kernels that pick ids by hand must not collide with them.
int8_t hold_event(uint8_t event) {
    for (int8_t id = 0; id < kEventIds; ++id) {
        Flag& flag = core->flags[event][id];
        if (flag.holder == Flag::Holder::Free && !flag.is_set) {
            flag.holder = Flag::Holder::Queue;
            flag.set_at = core->site;
            return id;
        }
    }
    fail(Rule::Limit, "event id", kEventIds + 1, kEventIds, "all %d ids of event %s are in use", kEventIds, event_name(event));
}

void drop_event(uint8_t event, int8_t id) {
    if (id >= 0) core->flags[event][id].holder = Flag::Holder::Free;
}

View view_of(const Queue& queue, uint16_t buffer) {
    const QueueBuffer& b = core->buffers[buffer];
    return {b.offset, queue.bytes, static_cast<uint16_t>(buffer + 1), b.generation, true};
}

}  // namespace

uint16_t queue_init(uint8_t source, uint8_t target, int32_t depth, uint32_t buffers, uint32_t bytes, Extent* pool) {
    if (buffers == 0 || bytes == 0) {
        fail(Rule::Usage, buffers == 0 ? "num" : "len", 0, -1, "a queue needs at least one buffer of at least one byte");
    }
    Queue queue;
    queue.source = source;
    queue.target = target;
    queue.producer = producer_of(static_cast<TPosition>(source));
    queue.consumer = consumer_of(static_cast<TPosition>(target));
    queue.fill_event = event_between(queue.producer, queue.consumer);
    queue.free_event = event_between(queue.consumer, queue.producer);
    queue.depth = std::max(depth, 1);
    queue.bytes = static_cast<uint32_t>(round_to_block(bytes));
    queue.buffers = static_cast<uint16_t>(buffers);
    queue.created = core->site;
    uint32_t on_position = buffers;
    for (const Queue& other : core->queues) {
        if (other.source == source && !other.is_retired) on_position += other.buffers;
    }
    if (on_position > launch.soc.limits.queue_buffers) {
        fail(Rule::Buffer, "num", on_position, launch.soc.limits.queue_buffers,
             "queues of one TPosition can have %u buffers together, one event id each", launch.soc.limits.queue_buffers);
    }
    const uint32_t at = take_ub(round_to_block(bytes) * buffers, buffers, pool);
    queue.first_buffer = static_cast<uint16_t>(core->buffers.size());
    for (uint32_t i = 0; i < buffers; ++i) {
        QueueBuffer buffer;
        buffer.offset = at + i * queue.bytes;
        buffer.queue = static_cast<uint16_t>(core->queues.size());
        core->buffers.push_back(buffer);
    }
    core->queues.push_back(queue);
    return static_cast<uint16_t>(core->queues.size() - 1);
}

View queue_alloc(uint16_t id) {
    Queue& queue = queue_at(id);
    for (uint16_t i = 0; i < queue.buffers; ++i) {
        const uint16_t index = static_cast<uint16_t>(queue.first_buffer + (queue.next + i) % queue.buffers);
        QueueBuffer& buffer = core->buffers[index];
        if (buffer.state != BufferState::Free) continue;
        queue.next = static_cast<uint16_t>((queue.next + i + 1) % queue.buffers);
        buffer.state = BufferState::Allocated;
        ++buffer.generation;
        buffer.last_use = core->site;
        if (buffer.released_token != 0) {
            core->clocks.join(queue.producer, buffer.released);
            record(Step::Wait, queue.producer, buffer.released_token, static_cast<float>(WaitCause::Queue), 0);
            drop_event(queue.free_event, buffer.event_id);
            buffer.event_id = -1;
        }
        if (launch.checks == Checks::Full) {
            core->ub_shadow.update(buffer.offset, buffer.offset + queue.bytes, [](uint64_t, uint64_t, AccessState& s) {
                s.flags &= static_cast<uint8_t>(~AccessState::kInitialised);
            });
        }
        return view_of(queue, index);
    }
    const QueueBuffer& first = core->buffers[queue.first_buffer];
    fail_with(first.last_use, Rule::QueueDepth, nullptr, queue.buffers + 1, queue.buffers,
              "no buffer of the queue is free (it has %u): FreeTensor is missing; the chip would hang", queue.buffers);
}

void queue_enqueue(uint16_t id, const View& view) {
    Queue& queue = queue_at(id);
    QueueBuffer& buffer = buffer_of(id, view, "EnQue");
    if (buffer.state != BufferState::Allocated && buffer.state != BufferState::Dequeued) {
        fail_with(buffer.last_use, Rule::QueueOrder, "tensor", -1, -1, "EnQue of a tensor that is %s",
                  name_of(buffer.state));
    }
    if (static_cast<int32_t>(queue.waiting.size()) >= queue.depth) {
        fail_with(buffer.last_use, Rule::QueueDepth, "tensor", queue.waiting.size() + 1, queue.depth,
                  "more EnQue without DeQue than the depth of the queue");
    }
    buffer.state = BufferState::Queued;
    buffer.filled = core->clocks.stamp(queue.producer);
    buffer.filled_token = core->next_token++;
    buffer.last_use = core->site;
    buffer.event_id = hold_event(queue.fill_event);
    record(Step::Set, queue.producer, buffer.filled_token, 0, 0);
    queue.waiting.push_back(static_cast<uint16_t>(view.buffer - 1));
}

View queue_dequeue(uint16_t id) {
    Queue& queue = queue_at(id);
    if (queue.waiting.empty()) {
        fail_with(queue.created, Rule::QueueOrder, nullptr, -1, -1,
                  "DeQue from an empty queue: EnQue is missing; the chip would hang");
    }
    const uint16_t index = queue.waiting.front();
    queue.waiting.erase(queue.waiting.begin());
    QueueBuffer& buffer = core->buffers[index];
    buffer.state = BufferState::Dequeued;
    buffer.last_use = core->site;
    core->clocks.join(queue.consumer, buffer.filled);
    record(Step::Wait, queue.consumer, buffer.filled_token, static_cast<float>(WaitCause::Queue), 0);
    drop_event(queue.fill_event, buffer.event_id);
    buffer.event_id = -1;
    return view_of(queue, index);
}

void queue_free(uint16_t id, const View& view) {
    Queue& queue = queue_at(id);
    QueueBuffer& buffer = buffer_of(id, view, "FreeTensor");
    if (buffer.state != BufferState::Allocated && buffer.state != BufferState::Dequeued) {
        fail_with(buffer.last_use, Rule::QueueOrder, "tensor", -1, -1, "FreeTensor of a tensor that is %s",
                  buffer.state == BufferState::Free ? "free already" : name_of(buffer.state));
    }
    buffer.state = BufferState::Free;
    buffer.released = core->clocks.stamp(queue.consumer);
    buffer.released_token = core->next_token++;
    buffer.last_use = core->site;
    buffer.event_id = hold_event(queue.free_event);
    record(Step::Set, queue.consumer, buffer.released_token, 0, 0);
}

uint32_t queue_buffer_bytes(uint16_t id) { return queue_at(id).bytes; }
int32_t queue_count(uint16_t id) { return static_cast<int32_t>(queue_at(id).waiting.size()); }
bool queue_has_room(uint16_t id) { return queue_count(id) < queue_at(id).depth; }

bool queue_has_idle_buffer(uint16_t id) {
    const Queue& queue = queue_at(id);
    return std::any_of(core->buffers.begin() + queue.first_buffer,
                       core->buffers.begin() + queue.first_buffer + queue.buffers,
                       [](const QueueBuffer& b) { return b.state == BufferState::Free; });
}

void check_no_leaks(const char* when) {
    for (const QueueBuffer& buffer : core->buffers) {
        if (buffer.state == BufferState::Free || core->queues[buffer.queue].is_retired) continue;
        core->site = buffer.last_use;
        fail_with(core->queues[buffer.queue].created, Rule::QueueLeak, "tensor", core->queues[buffer.queue].bytes, 0,
                  "at %s a tensor of this queue is still %s: %s is missing", when, name_of(buffer.state),
                  buffer.state == BufferState::Queued ? "DeQue" : "FreeTensor");
    }
    for (Queue& queue : core->queues) queue.is_retired = true;
}

}  // namespace af_sim
