extension EncodingTree {
    /// Adds the values of a text.
    ///
    /// - Returns: The node of each of the text's places.
    mutating func add(_ text: consuming StreamingWriter) -> [Int] {
        let root = addRoot()
        let (bytes, places, unset) = text.completed()
        // The writer's bytes are valid, so this fails only beyond 2 GiB.
        guard
            let written = try? JSONScanner.nodes(of: bytes, maximumDepth: .max, recordedDepth: .max)
        else {
            isLost = true
            return [Int](repeating: root, count: places.count)
        }
        let reader = JSONReader(bytes, nodes: written)
        var nodeOfPlace: [Int] = []
        nodeOfPlace.reserveCapacity(places.count)
        var index = 0
        fill(
            root, from: reader, at: &index, places: places, unset: unset, nodeOfPlace: &nodeOfPlace)
        return nodeOfPlace
    }

    /// Sets a node to the value at an index of the reader.
    private mutating func fill(
        _ node: Int, from reader: JSONReader, at index: inout Int,
        places: [StreamingWriter.Place], unset: Set<Int>, nodeOfPlace: inout [Int]
    ) {
        let source = reader.nodes[index]
        // Places are in the order of the text, like the reader's nodes.
        let place = nodeOfPlace.count
        let isPlace = place < places.count && places[place].start == Int(source.start)
        if isPlace { nodeOfPlace.append(node) }
        if isPlace, unset.contains(place) {
            index += 1
            return
        }
        let isContainer = source.kind == .array || source.kind == .object
        guard isContainer, !(isPlace && places[place].isValue) else {
            set(reader.value(at: &index), at: node)
            return
        }
        index += 1
        start(source.kind == .array ? .array : .object, at: node)
        for _ in 0..<source.count {
            let child: Int
            if source.kind == .object {
                child = member(reader.string(at: index), of: node)
                index += 1
            } else {
                child = element(of: node)
            }
            fill(
                child, from: reader, at: &index, places: places, unset: unset,
                nodeOfPlace: &nodeOfPlace)
        }
    }
}
