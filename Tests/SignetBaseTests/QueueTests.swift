import SignetBase
import Testing

/// The order of a queue, and what remains in it.
@Suite struct QueueTests {
    @Test func returnsTheElementsInTheirOrder() {
        var queue = Queue<Int>()
        var next = 0
        var removed = 0
        // Grows and shrinks several times, over the sizes at which the array is cut.
        for (added, taken) in [(1, 1), (3_000, 1_500), (1_000, 2_400), (10, 110), (5_000, 4_000)] {
            for _ in 0..<added {
                queue.append(next)
                next += 1
            }
            for _ in 0..<taken {
                #expect(queue.popFirst() == removed)
                removed += 1
            }
            #expect(queue.count == next - removed)
        }
        while let element = queue.popFirst() {
            #expect(element == removed)
            removed += 1
        }
        #expect(removed == next && queue.count == 0 && queue.popFirst() == nil)
    }

    @Test func removesMatchingElements() {
        var queue = Queue<Int>()
        for number in 0..<10 { queue.append(number) }
        #expect(queue.popFirst() == 0 && queue.popFirst() == 1)
        #expect(queue.remove { $0 < 2 }.isEmpty && queue.count == 8)
        #expect(queue.remove { $0.isMultiple(of: 3) } == [3, 6, 9])
        #expect(queue.count == 5)
        queue.append(10)
        #expect([2, 4, 5, 7, 8, 10].allSatisfy { queue.popFirst() == $0 })
        #expect(queue.popFirst() == nil)
    }

    @Test func holdsNoElementThatWasRemoved() {
        final class Element {}
        var queue = Queue<Element>()
        for _ in 0..<3 { queue.append(Element()) }
        weak var first: Element?
        do {
            let element = queue.popFirst()
            first = element
            #expect(first != nil)
        }
        #expect(first == nil && queue.count == 2)
    }
}
