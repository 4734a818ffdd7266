import SignetJSON

/// One response object of JSON-RPC, read but not yet joined to its call.
struct JSONRPCResponse {
    /// The member `id`.
    enum ID {
        case absent, null, unusable
        case id(RPCID)
    }

    /// What the response says.
    enum Content {
        case result(JSONReader.Element)
        case error(RPCServerError)
        /// Why the response is none.
        case defect(String)
    }

    let id: ID
    let content: Content
    /// Whether the object says that it is of the protocol, even if the rest is wrong: it names a version,
    /// or has all three members that version 1.0 demands. Ids and errors alone others have too.
    let isRPC: Bool
    /// Whether it has both result and error, and that was let pass.
    let hasBoth: Bool

    /// Whether its id is null.
    var namesNoCall: Bool { if case .null = id { true } else { false } }

    init(_ element: JSONReader.Element, in reader: JSONReader, _ adapter: JSONRPCAdapter) {
        guard element.kind == .object else {
            self.id = .absent
            self.content = .defect(
                "found a JSON value that is no object, expected a response object")
            self.isRPC = false
            self.hasBoth = false
            return
        }
        var members = Members()
        for (name, value) in reader.members(of: element) {
            if reader.isString(name, "jsonrpc") {
                members.version = value
            } else if reader.isString(name, "id") {
                members.id = value
            } else if reader.isString(name, "result") {
                members.result = value
            } else if reader.isString(name, "error") {
                members.error = value
            }
        }
        self.id =
            switch members.id?.kind {
            case nil: .absent
            case .null: .null
            default: members.id.flatMap { reader.id($0) }.map(ID.id) ?? .unusable
            }
        self.isRPC =
            members.version != nil
            || adapter.version == .v1 && members.id != nil && members.result != nil
                && members.error != nil
        guard adapter.version == .v2 else {
            self.content = members.contentOfVersion1(reader, id)
            self.hasBoth = false
            return
        }
        let takesBoth = adapter.acceptsResultBesideError
        self.hasBoth = takesBoth && members.result != nil && members.error != nil
        self.content = members.content(reader, id, takesBoth: takesBoth)
    }

    private struct Members {
        var version: JSONReader.Element?
        var id: JSONReader.Element?
        var result: JSONReader.Element?
        var error: JSONReader.Element?

        /// JSON-RPC 2.0, section 5: exactly one of result and error, whatever their values.
        func content(_ reader: JSONReader, _ id: ID, takesBoth: Bool) -> Content {
            guard let version else { return .defect("the member jsonrpc is missing") }
            guard reader.isString(version, "2.0") else {
                return .defect("the member jsonrpc is not the string 2.0")
            }
            if let defect = defect(of: id) { return .defect(defect) }
            switch (result, error) {
            case (let result?, nil): return .result(result)
            case (nil, let error?): return serverError(error, reader)
            case (nil, nil): return .defect("found neither result nor error, expected one of them")
            case (let result?, let error?) where takesBoth:
                return error.kind == .null ? .result(result) : serverError(error, reader)
            default: return .defect("found both result and error, expected one of them")
            }
        }

        /// JSON-RPC 1.0, section 1.2: both members, one of them null; a missing one counts as null.
        func contentOfVersion1(_ reader: JSONReader, _ id: ID) -> Content {
            if let defect = defect(of: id) { return .defect(defect) }
            switch (result, error) {
            case (let result?, nil): return .result(result)
            case (let result?, let error?) where error.kind == .null: return .result(result)
            case (let result, let error?) where error.kind != .null:
                guard result == nil || result?.kind == .null else {
                    return .defect("found both result and error, expected one of them to be null")
                }
                return serverErrorOfVersion1(error, reader)
            default: return .defect("found neither result nor error, expected one of them")
            }
        }

        private func defect(of id: ID) -> String? {
            switch id {
            case .absent: "the member id is missing"
            case .unusable: "the member id is neither string, number nor null"
            case .null, .id: nil
            }
        }

        /// JSON-RPC 2.0, section 5.1.
        private func serverError(
            _ element: JSONReader.Element, _ reader: JSONReader
        ) -> Content {
            guard let object = reader.value(element).object else {
                return .defect("the member error is no object")
            }
            guard let code = object["code"]?.number, code.isInteger else {
                return .defect("the error's code is no integer")
            }
            guard let message = object["message"]?.string else {
                return .defect("the error's message is no string")
            }
            return .error(RPCServerError(code: code, message: message, data: object["data"]))
        }

        /// Version 1.0 does not say what an error looks like; one unlike that of 2.0 has code 0.
        private func serverErrorOfVersion1(
            _ element: JSONReader.Element, _ reader: JSONReader
        ) -> Content {
            if case .error(let error) = serverError(element, reader) { return .error(error) }
            let value = reader.value(element)
            let message = value.string ?? value["message"]?.string ?? "an error without a message"
            return .error(RPCServerError(code: JSONNumber(0), message: message, data: value))
        }
    }
}

extension JSONReader {
    /// An id of a response; nil for a type that cannot be one.
    fileprivate func id(_ element: Element) -> RPCID? {
        if let text = string(element) { return .string(text) }
        return number(element).map(RPCID.number)
    }
}
