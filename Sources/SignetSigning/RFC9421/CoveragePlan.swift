/// A list of covered components, compiled once to the steps that write a signature base
/// (RFC 9421, section 2.5).
struct CoveragePlan: Sendable {
    /// One component and the bytes before its value: `"name": `.
    struct Step: Sendable {
        let component: ComponentIdentifier
        let prefix: [UInt8]
    }

    let steps: [Step]
    /// The list as an inner list of RFC 9651: `("@method" "date")`.
    let innerList: [UInt8]
    let coversContentDigest: Bool
    /// The components' names, in their order.
    let names: [String]

    /// Compiles a list.
    ///
    /// - Throws: `SigningError` with `duplicate-component`.
    init(_ components: [ComponentIdentifier]) throws(SigningError) {
        var seen: [ComponentIdentifier] = []
        var steps: [Step] = []
        var innerList = [ASCII.leftParenthesis]
        for component in components {
            try seen.add(component)
            if innerList.count > 1 { innerList.append(ASCII.space) }
            var prefix: [UInt8] = []
            prefix.append(quoted: component.nameBytes)
            innerList.append(contentsOf: prefix)
            prefix.append(": ")
            steps.append(Step(component: component, prefix: prefix))
        }
        innerList.append(ASCII.rightParenthesis)
        self.steps = steps
        self.innerList = innerList
        self.names = components.map(\.name)
        self.coversContentDigest = components.contains(ContentDigest.component)
    }

    func covers(_ component: ComponentIdentifier) -> Bool {
        steps.contains { $0.component == component }
    }

    /// Appends the lines of all components, each with its LF.
    ///
    /// - Throws: `SigningError` with `missing-component` for what the message lacks, and with
    ///   `non-ascii-value` for a value that the base cannot hold.
    func appendLines(
        of message: SignableMessage, to base: inout [UInt8], values: inout [Range<Int>]
    ) throws(SigningError) {
        if case .request(let request) = message.start { try request.requireURI() }
        for step in steps {
            base.append(contentsOf: step.prefix)
            let start = base.count
            if step.component.source == .field {
                guard message.appendValue(of: step.component.nameBytes, to: &base) else {
                    throw SigningError(
                        .missingComponent, "the message has no field \(step.component.name)")
                }
                guard base.isASCII(from: start) else {
                    throw SigningError(
                        .nonASCIIValue, "the value of \(step.component.name) is not ASCII")
                }
            } else {
                try message.start.appendDerived(step.component, to: &base)
            }
            values.append(start..<base.count)
            base.append(ASCII.lineFeed)
        }
    }
}

extension SignableMessage.Start {
    /// Appends a derived component's value (RFC 9421, section 2.2).
    fileprivate func appendDerived(
        _ component: ComponentIdentifier, to base: inout [UInt8]
    ) throws(SigningError) {
        switch self {
        case .response(let response):
            guard component.source == .status else {
                throw SigningError(
                    .missingComponent, "\(component.name) is a request's, the message a response")
            }
            base.append(decimal: Int64(response.status))
        case .request(let request):
            switch component.source {
            case .method: base.append(request.method)
            case .authority: try request.appendAuthority(to: &base)
            case .scheme: base.append(request.scheme.rawValue)
            case .targetURI: try request.appendTargetURI(to: &base)
            case .requestTarget: base.append(contentsOf: request.target)
            case .path: request.appendPath(to: &base)
            case .query: request.appendQuery(to: &base)
            case .status, .field:
                throw SigningError(
                    .missingComponent, "\(component.name) is a response's, the message a request")
            }
        }
    }
}

extension [UInt8] {
    /// Whether no byte from `start` on has its high bit set.
    func isASCII(from start: Int) -> Bool {
        var all: UInt8 = 0
        for byte in self[start...] { all |= byte }
        return all < 0x80
    }
}
