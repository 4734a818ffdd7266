/// A first-in, first-out queue. Removing its first element doesn't move the others.
package struct Queue<Element> {
    private var elements: [Element?] = []
    /// The number of elements that were removed from the start of the array.
    private var removed = 0

    /// Creates an empty queue.
    package init() {}

    /// The number of elements.
    package var count: Int { elements.count - removed }

    /// Adds an element at the end.
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the first element; nil if the queue is empty.
    package mutating func popFirst() -> Element? {
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
    package mutating func remove(where isRemoved: (Element) -> Bool) -> [Element] {
        var kept: [Element] = []
        var found: [Element] = []
        for case let element? in elements[removed...] {
            if isRemoved(element) { found.append(element) } else { kept.append(element) }
        }
        if !found.isEmpty { (elements, removed) = (kept, 0) }
        return found
    }
}
