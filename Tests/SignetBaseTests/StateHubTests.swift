import SignetBase
import Synchronization
import TestSupport
import Testing

@Suite struct StateHubTests {
    private final class Notes: Sendable {
        private let noted = Mutex<[Int]>([])
        var all: [Int] { noted.withLock { $0 } }
        func add(_ state: Int) { noted.withLock { $0.append(state) } }
    }

    @Test func aLateListenerGetsThePresentStateFirst() async throws {
        let hub = StateHub<Int>()
        let (early, late) = (Notes(), Notes())
        _ = hub.add { early.add($0) }
        hub.set(1).perform()
        hub.set(1).perform()
        _ = hub.add { late.add($0) }
        hub.set(2).perform()
        #expect(try await eventually { early.all == [1, 2] && late.all == [1, 2] })
    }

    @Test func aRemovedListenerGetsNothing() async throws {
        let hub = StateHub<Int>()
        let notes = Notes()
        let number = hub.add { notes.add($0) }
        let deliveries = hub.set(1)
        hub.remove(number)
        deliveries.perform()
        hub.set(2).perform()
        #expect(notes.all.isEmpty && hub.count == 0)
    }

    @Test func anUnknownStateIsNotDelivered() {
        let hub = StateHub<Int>()
        let notes = Notes()
        hub.set(1).perform()
        hub.set(nil).perform()
        _ = hub.add { notes.add($0) }
        #expect(hub.state == nil && notes.all.isEmpty)
        hub.set(1).perform()
        #expect(notes.all == [1])
    }

    private final class Next: Sendable {
        private let last = Mutex(0)

        func set(in hub: StateHub<Int>) -> StateHub<Int>.Deliveries {
            last.withLock { last in
                last += 1
                return hub.set(last)
            }
        }
    }

    /// Each listener gets the states in their order, from whichever thread they come.
    @Test func statesKeepTheirOrder() async throws {
        let hub = StateHub<Int>()
        let next = Next()
        let all = (0..<20).map { _ in Notes() }
        for notes in all { _ = hub.add { notes.add($0) } }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        next.set(in: hub).perform()
                    }
                }
            }
        }
        #expect(try await eventually { all.allSatisfy { $0.all.count == 2_000 } })
        for notes in all { #expect(notes.all == Array(1...2_000)) }
    }

    /// A listener may use the hub while it is called.
    @Test func aListenerMayListen() async throws {
        let hub = StateHub<Int>()
        let (outer, inner) = (Notes(), Notes())
        _ = hub.add { state in
            outer.add(state)
            _ = hub.add { inner.add($0) }
            if state < 3 { hub.set(state + 1).perform() }
        }
        hub.set(1).perform()
        #expect(try await eventually { outer.all == [1, 2, 3] && inner.all.contains(3) })
    }
}
