internal import Synchronization

/// Up to four C contexts that wait to be used again, taken and given back without a lock.
///
/// A slot holds a context's address or 0. Taking is one atomic exchange; giving back is one
/// compare-and-exchange a slot. A context that finds no free slot is the caller's to free.
@safe struct ContextPool: ~Copyable {
    private let first = Atomic<UInt>(0)
    private let second = Atomic<UInt>(0)
    private let third = Atomic<UInt>(0)
    private let fourth = Atomic<UInt>(0)

    /// A waiting context, or nil; it is the caller's until it is given back.
    borrowing func take() -> OpaquePointer? {
        for slot in 0..<4 {
            let address = exchange(slot, 0)
            if address != 0 { return unsafe OpaquePointer(bitPattern: address) }
        }
        return nil
    }

    /// Leaves a context for the next caller; false when there is no room, and the caller frees it.
    borrowing func giveBack(_ context: OpaquePointer) -> Bool {
        let address = UInt(bitPattern: context)
        return fill(first, address) || fill(second, address) || fill(third, address)
            || fill(fourth, address)
    }

    @inline(__always)
    private borrowing func exchange(_ slot: Int, _ value: UInt) -> UInt {
        switch slot {
        case 0: first.exchange(value, ordering: .acquiringAndReleasing)
        case 1: second.exchange(value, ordering: .acquiringAndReleasing)
        case 2: third.exchange(value, ordering: .acquiringAndReleasing)
        default: fourth.exchange(value, ordering: .acquiringAndReleasing)
        }
    }

    @inline(__always)
    private borrowing func fill(_ slot: borrowing Atomic<UInt>, _ address: UInt) -> Bool {
        slot.compareExchange(
            expected: 0, desired: address, successOrdering: .acquiringAndReleasing,
            failureOrdering: .relaxed
        ).exchanged
    }
}
