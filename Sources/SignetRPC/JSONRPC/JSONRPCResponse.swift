package import SignetJSON

/// One JSON-RPC response object, parsed but not yet matched to its call.
package struct JSONRPCResponse {
    /// The member `id`.
    package enum ID {
        case absent, null, unusable
        case id(RPCID)
    }

    /// The part of the response that matters to the call.
    package enum Content {
        case result(JSONReader.Element)
        case error(RPCServerError)
        /// Why the object is not a valid response.
        case problem(String)
    }

    package let id: ID
    package let content: Content
    /// Whether the object is recognisably JSON-RPC, even if invalid: it has the member `jsonrpc`,
    /// or all three members that version 1.0 requires. Other APIs have ids and errors too.
    private(set) var isRPC = false
    /// Whether it has both result and error, and that is accepted.
    package private(set) var hasBoth = false

    /// Whether its id is null.
    var namesNoCall: Bool { if case .null = id { true } else { false } }

    /// Returns the error of the HTTP response that contained this object, which has a problem.
    func refusal(of response: RawResponse, because problem: String) -> PayloadError {
        guard isRPC else { return .unusable(response, because: problem) }
        return .malformedResponse(problem, status: response.status)
    }

    package init(_ element: JSONReader.Element, in reader: JSONReader, adapter: JSONRPCAdapter) {
        guard element.kind == .object else {
            self.id = .absent
            self.content = .problem(
                "found a JSON value of another type, expected a response object")
            return
        }
        var members = Members()
        for (name, value) in reader.members(of: element) {
            if reader.isString(name, equalTo: "jsonrpc") {
                members.version = value
            } else if reader.isString(name, equalTo: "id") {
                members.id = value
            } else if reader.isString(name, equalTo: "result") {
                members.result = value
            } else if reader.isString(name, equalTo: "error") {
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
            self.content = members.contentOfVersion1(id: id, in: reader)
            return
        }
        let acceptsBoth = adapter.acceptsResultBesideError
        if let result = members.result, let error = members.error {
            self.hasBoth = error.kind == .null || result.kind == .null || acceptsBoth
        }
        self.content = members.content(id: id, in: reader, acceptsBoth: acceptsBoth)
    }

    private struct Members {
        var version: JSONReader.Element?
        var id: JSONReader.Element?
        var result: JSONReader.Element?
        var error: JSONReader.Element?

        /// JSON-RPC 2.0, section 5: exactly one of result and error. Many servers also write the
        /// other one as null.
        func content(id: ID, in reader: JSONReader, acceptsBoth: Bool) -> Content {
            guard let version else { return .problem("the member jsonrpc is missing") }
            guard reader.isString(version, equalTo: "2.0") else {
                return .problem("the member jsonrpc is not the string 2.0")
            }
            if let problem = problem(of: id) { return .problem(problem) }
            switch (result, error) {
            case (let result?, nil): return .result(result)
            case (nil, let error?): return serverError(error, in: reader)
            case (nil, nil): return .problem("found neither result nor error, expected one of them")
            case (let result?, let error?) where error.kind == .null: return .result(result)
            case (let result?, let error?) where acceptsBoth || result.kind == .null:
                return serverError(error, in: reader)
            default: return .problem("found both result and error, expected one of them")
            }
        }

        /// JSON-RPC 1.0, section 1.2: both members, one of them null; a missing one counts as null.
        func contentOfVersion1(id: ID, in reader: JSONReader) -> Content {
            if let problem = problem(of: id) { return .problem(problem) }
            switch (result, error) {
            case (let result?, nil): return .result(result)
            case (let result?, let error?) where error.kind == .null: return .result(result)
            case (let result, let error?) where error.kind != .null:
                guard result == nil || result?.kind == .null else {
                    return .problem("found both result and error, expected one of them to be null")
                }
                return serverErrorOfVersion1(error, in: reader)
            default: return .problem("found neither result nor error, expected one of them")
            }
        }

        private func problem(of id: ID) -> String? {
            switch id {
            case .absent: "the member id is missing"
            case .unusable: "the member id is not a string, a number or null"
            case .null, .id: nil
            }
        }

        /// JSON-RPC 2.0, section 5.1.
        private func serverError(
            _ element: JSONReader.Element, in reader: JSONReader
        ) -> Content {
            guard let object = reader.value(element).object else {
                return .problem("the member error is not an object")
            }
            guard let code = object["code"]?.number, code.isInteger else {
                return .problem("the error's code is not an integer")
            }
            guard let message = object["message"]?.string else {
                return .problem("the error's message is not a string")
            }
            return .error(RPCServerError(code: code, message: message, data: object["data"]))
        }

        /// Version 1.0 doesn't define errors. One that differs from those of 2.0 gets code 0.
        private func serverErrorOfVersion1(
            _ element: JSONReader.Element, in reader: JSONReader
        ) -> Content {
            if case .error(let error) = serverError(element, in: reader) { return .error(error) }
            let value = reader.value(element)
            let message = value.string ?? value["message"]?.string ?? "an error without a message"
            return .error(RPCServerError(code: JSONNumber(0), message: message, data: value))
        }
    }
}

extension JSONReader {
    /// Returns a response's id; nil if the element's type cannot be an id.
    fileprivate func id(_ element: Element) -> RPCID? {
        string(element).map(RPCID.string) ?? number(element).map(RPCID.number)
    }
}
