extension EncodingTree {
    /// Takes over what has been written as a text.
    ///
    /// - Returns: The node of each of the text's places.
    mutating func take(_ text: consuming StreamingWriter) -> [Int] {
        let root = addRoot()
        let (bytes, places, waiting) = text.completed()
        // The bytes are our own and valid; what cannot be read again is a text beyond 2 GiB.
        guard
            let written = try? JSONScanner.nodes(
                of: bytes, maximumDepth: .max, recordedDepth: .max)
        else {
            isLost = true
            return [Int](repeating: root, count: places.count)
        }
        let reader = JSONReader(bytes, nodes: written)
        var nodeOfPlace: [Int] = []
        nodeOfPlace.reserveCapacity(places.count)
        var index = 0
        fill(root, from: reader, &index, places, waiting, &nodeOfPlace)
        return nodeOfPlace
    }

    /// Gives a node the value that begins at an index of the reader's.
    private mutating func fill(
        _ node: Int, from reader: JSONReader, _ index: inout Int, _ places: [StreamingWriter.Place],
        _ waiting: Set<Int>, _ nodeOfPlace: inout [Int]
    ) {
        let source = reader.nodes[index]
        // Places come in the order of the text, as the reader's nodes do.
        let place = nodeOfPlace.count
        let isPlace = place < places.count && places[place].start == Int(source.start)
        if isPlace { nodeOfPlace.append(node) }
        if isPlace, waiting.contains(place) {
            index += 1
            return
        }
        let isContainer = source.kind == .array || source.kind == .object
        guard isContainer, !(isPlace && places[place].isValue) else {
            set(reader.value(at: &index), at: node)
            return
        }
        index += 1
        begin(source.kind == .array ? .array : .object, at: node)
        for _ in 0..<source.count {
            let child: Int
            if source.kind == .object {
                child = member(reader.string(at: index), of: node)
                index += 1
            } else {
                child = element(of: node)
            }
            fill(child, from: reader, &index, places, waiting, &nodeOfPlace)
        }
    }
}
