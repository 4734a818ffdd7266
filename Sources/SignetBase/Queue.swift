/// A first-in, first-out queue. Removing its first element doesn't move the others.
///
/// Its functions are inlinable, so that other modules get code for their own element types
/// (benchmarks `requests-h1` and `requests-h2`). Swift 6.3 inlines them only if the type is
/// `@usableFromInline`.
@usableFromInline package struct Queue<Element> {
    @usableFromInline var elements: [Element?] = []
    /// The number of elements that were removed from the start of the array.
    @usableFromInline var removed = 0

    /// Creates an empty queue.
    @inlinable package init() {}

    /// The number of elements.
    @inlinable package var count: Int { elements.count - removed }

    /// The elements in their order.
    package var all: [Element] { elements[removed...].compactMap(\.self) }

    /// Adds an element at the end.
    @inlinable package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the first element; nil if the queue is empty.
    @inlinable package mutating func popFirst() -> Element? {
        guard removed < elements.count else { return nil }
        let element = elements[removed].take()
        removed += 1
        if removed == elements.count {
            elements.removeAll(keepingCapacity: removed <= 1024)
            removed = 0
        } else if removed >= 1024, removed > elements.count / 2 {
            elements.removeFirst(removed)
            removed = 0
        }
        return element
    }

    /// Removes and returns the elements that meet a condition.
    @inlinable package mutating func remove(where isRemoved: (Element) -> Bool) -> [Element] {
        var kept: [Element] = []
        var found: [Element] = []
        for case let element? in elements[removed...] {
            if isRemoved(element) { found.append(element) } else { kept.append(element) }
        }
        if !found.isEmpty { (elements, removed) = (kept, 0) }
        return found
    }
}
