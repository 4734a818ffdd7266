import HTTPTypes
import SignetBase
import SignetCache
import SignetJSON
import SignetRPC
import SignetTransport

/// Keeps the responses of calls by the program's own rules, for any adapter.
///
/// The key is made of the API and its parameters, before they are boxed, because ids and boundaries
/// differ each time. What is stored is the unboxed response. A call with interceptors isn't
/// cached here, because they may have made or changed the response; nor is one of a service whose
/// bodies are sealed, because its response would be kept open.
struct CallCacheStage: Sendable {
    let store: SystemCacheStore
    let scopes: CacheScopes
    let clock: SystemClock

    /// Returns the stored response of an equal call, or makes the call and stores its response.
    func run(
        _ request: CallRequest, by rules: CachePolicy.OwnRules, in context: CallContext,
        otherwise work: () async throws(ClientError) -> UnboxedResponse
    ) async throws(ClientError) -> UnboxedResponse {
        let mode = context.options.cacheMode ?? .standard
        var use = CacheUse(
            policy: CachePolicy(rule: .own(rules)), mode: mode, decision: .bypassed)
        guard let key = key(of: request, by: rules, in: context) else {
            use.reason = "bypass"
            context.log.setCache(use)
            return try await work()
        }
        use.hashedKey = .init(key, hash: scopes.hashKey)
        let stage = context.log.begin(.cache)
        context.send { .readingCache($0) }
        let (found, reason) = await look(for: key, by: rules, mode: mode, in: context)
        context.log.end(stage)
        if let found {
            (use.decision, use.age) = (.hit, found.age)
            context.log.setCache(use)
            return try answer(found.call, in: context)
        }
        (use.decision, use.reason) = (.miss, reason)
        guard mode != .only else {
            context.log.setCache(use)
            throw ClientError(.notCached, "no response to the call is stored")
        }
        let (start, removals) = (clock.now(), store.removalCount)
        context.log.setCache(use)
        let response = try await work()
        // A cookie that has come since belongs to another key.
        if self.key(of: request, by: rules, in: context) == key {
            use.isStored = await keep(
                response, under: key, since: (start, removals), by: rules, in: context)
        }
        context.log.setCache(use)
        return response
    }

    // MARK: The key

    /// The key of a call's responses; nil if they aren't stored.
    func key(
        of request: CallRequest, by rules: CachePolicy.OwnRules, in context: CallContext
    ) -> CacheKey? {
        guard context.options.interceptors.isEmpty, context.options.attemptInterceptors.isEmpty,
            !request.isNotification, context.stubs.isEmpty, context.service.sealer == nil
        else { return nil }
        let service = context.service
        var fields = service.configuration.commonFields
        for field in context.options.fields { fields[field.name] = nil }
        fields.append(contentsOf: context.options.fields)
        fields.append(contentsOf: context.addedFields ?? [:])
        var message = BlockWriter()
        message.add("\(service.url.origin)\(service.url.target)")
        message.add(fields)
        message.add(JSONValue.object(service.configuration.commonParameters))
        for set in context.options.sets ?? [] { message.add(set) }
        message.add(rules.apiVersion ?? "")
        message.add(rules.appVersion ?? "")
        guard (try? request.add(to: &message)) != nil else { return nil }
        var secrets = fields.ofUsers
        // Of every path, because the request isn't boxed yet.
        for cookie in service.cookies(for: service.url)?.all(
            of: service.url.origin, at: clock.now())
            ?? []
        {
            secrets.append(HTTPField(name: .cookie, value: cookie))
        }
        let place = scopes.place(of: context, fields: secrets, origin: service.url.origin)
        guard let place, let digest = scopes.token(message) else { return nil }
        return CacheKey(api: Self.api(of: context.identity), call: digest, scope: place.text)
    }

    /// The API of a call: its service, its method and the template of its path.
    static func api(of identity: CallIdentity) -> String {
        let name = "\(identity.service)/\(identity.method)\(identity.path ?? "")"
        return PercentCoding.encoded(name, keeping: apiCharacters)
    }

    private static let apiCharacters = ASCIISet(lettersDigitsAnd: "-._~/{}:")

    // MARK: Look-up

    private func look(
        for key: CacheKey, by rules: CachePolicy.OwnRules, mode: CacheMode, in context: CallContext
    ) async -> (found: (call: StoredCall, age: Int64)?, reason: String) {
        guard mode != .refresh else { return (nil, "request") }
        let now = clock.now()
        guard let entry = await store.responses(for: key).last else { return (nil, "uri-miss") }
        let stored = entry.response
        let origin = context.service.url.origin
        guard context.policy?.accepts(stored.publicKeys, of: origin, at: now) ?? true else {
            return (nil, "pins")
        }
        // If the clock was set back, the age isn't known.
        let age = now - stored.responseTime
        if mode != .only, let limit = rules.age {
            guard age >= 0, .seconds(age) < limit else { return (nil, "stale") }
        }
        guard let bytes = await entry.content.bytes(count: stored.length),
            let call = StoredCall(bytes)
        else { return (nil, "damaged") }
        return ((call, max(0, age)), "")
    }

    private func answer(
        _ call: StoredCall, in context: CallContext
    ) throws(ClientError) -> UnboxedResponse {
        var response = call.response
        if let json = context.options.json { response.result?.conventions = json }
        context.log.setResponse(status: response.status, bodySize: response.raw.body.count)
        context.log.setRaw(response.raw)
        // Each call that shares the work asks its own checks.
        if context.joint == nil { try context.check(response) }
        return response
    }

    // MARK: Storing

    /// Stores a response of the server.
    ///
    /// - Parameter start: When the request began, and the removals by then.
    private func keep(
        _ response: UnboxedResponse, under key: CacheKey, since start: (time: Int64, removals: Int),
        by rules: CachePolicy.OwnRules, in context: CallContext
    ) async -> Bool {
        // The policy is asked about the service's own origin when the response is served.
        guard let receipt = context.receipt?.value, !receipt.isMadeUp,
            receipt.origin == context.service.url.origin, (200..<300).contains(response.status)
        else { return false }
        let content = StoredCall(response).bytes
        let stored = StoredResponse(
            id: .init(key: key, selected: []), response: HTTPResponse(status: .ok),
            requestTime: start.time, responseTime: clock.now(), length: Int64(content.count),
            publicKeys: receipt.publicKeys)
        guard let writer = await store.writer(for: .store(stored), since: start.removals) else {
            return false
        }
        await writer.write(content)
        guard await writer.finish(isWhole: true) else { return false }
        if let count = rules.byteCount { await store.trim(origin: key.origin, to: count) }
        return true
    }
}

extension CacheContent {
    /// The whole content; nil if it is damaged.
    fileprivate func bytes(count: Int64) async -> [UInt8]? {
        switch self {
        case .bytes(let bytes): return bytes
        case .pieces(let reader):
            var bytes: [UInt8] = []
            while Int64(bytes.count) < count {
                guard let piece = await reader.piece(in: Int64(bytes.count)..<count) else {
                    return nil
                }
                bytes += piece
            }
            return bytes
        }
    }
}

extension CallRequest {
    fileprivate var isNotification: Bool {
        if case .procedure(let call, _) = self { call.isNotification } else { false }
    }

    /// Adds all that tells one call of an API from another one. Members of objects have no order.
    fileprivate func add(to message: inout BlockWriter) throws(PayloadError) {
        message.add(responseContent == .any ? "any" : "json")
        switch self {
        case .procedure(let call, let path):
            message.add("procedure")
            message.add(call.method.name)
            message.add(path ?? "")
            switch call.parameters {
            case nil: message.add("none")
            case .array(let values): message.add(.array(values))
            case .object(let values): message.add(.object(values))
            }
        case .resource(let request):
            message.add("resource")
            message.add(request.method.rawValue)
            message.add(try request.path.encoded())
            message.add(.object(request.query))
            message.add(request.fields)
            message.add(request.body.contentType ?? "")
            message.add(request.body.bytes)
        }
    }
}

extension BlockWriter {
    /// Adds a value. Numbers stay as they are written, because the canonical form of RFC 8785 is
    /// the same for neighbouring large ones.
    fileprivate mutating func add(_ value: JSONValue) { add(value.sorted.serialized()) }
}

extension JSONValue {
    /// The value with the members of its objects in order.
    fileprivate var sorted: JSONValue {
        switch self {
        case .array(let values): return .array(values.map(\.sorted))
        case .object(let object):
            let members = object.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            return .object(JSONObject(members.map { (name: $0.name, value: $0.value.sorted) }))
        default: return self
        }
    }
}
