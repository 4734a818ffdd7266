import HTTPTypes
import SignetBase
import SignetCache
import TestSupport
import Testing

/// Random callers, a random origin and a clock, whose replies an ``Oracle`` judges.
struct Play {
    var random: SplitMix
    private var oracle = Oracle()
    /// The newest version of each path, scope and variant.
    private var current: [String: Int] = [:]
    private(set) var served = 0
    private(set) var servedAfterFailure = 0
    private(set) var validated = 0
    private(set) var parts = 0

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    mutating func chance(_ percentage: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percentage
    }

    /// Returns the seconds until the next calls. A clock may be set back.
    mutating func pause() -> Int64 {
        if chance(1) { return -Int64.random(in: 0...100, using: &random) }
        return chance(60) ? Int64.random(in: 0...20, using: &random) : 0
    }

    mutating func endTurn() { oracle.endTurn() }

    // MARK: The judge

    /// Returns the rule that a reply breaks, or nil.
    mutating func problem(
        _ reply: ClientReply, _ asked: OracleRequest, wasSent: Bool, at now: Int64
    ) -> String? {
        let fields = reply.response.headerFields
        let status = fields[HTTPField.Name("Cache-Status")!] ?? ""
        let isHit = status.contains("signet;hit")
        if asked.isOnlyIfCached, wasSent { return "only-if-cached was sent" }
        if isHit || status.contains("stale-if-error") {
            if isHit { served += 1 } else { servedAfterFailure += 1 }
            guard let version = version(of: reply), let age = fields[.age].flatMap({ Int64($0) })
            else { return "served without a version or an Age" }
            let objection = oracle.objection(
                to: version, age: age, for: asked, at: now, afterFailure: !isHit)
            return objection ?? (asked.method == .get ? contentProblem(reply, asked) : nil)
        }
        if !wasSent, status.isEmpty, reply.response.status.code != 504 {
            return "served without a status"
        }
        // A response that the origin has just sent or confirmed has its bytes.
        return reply.response.status.code < 300 && asked.method == .get
            ? contentProblem(reply, asked) : nil
    }

    private func version(of reply: ClientReply) -> Int? {
        reply.response.headerFields[HTTPField.Name("X-Version")!].flatMap { Int($0) }
    }

    private mutating func contentProblem(
        _ reply: ClientReply, _ asked: OracleRequest
    ) -> String? {
        guard let version = version(of: reply) else { return nil }
        let content = oracle.content(of: version)
        guard oracle.versions[version].scope == asked.scope else { return "another user's" }
        guard reply.response.status == .partialContent else {
            return reply.content == content ? nil : "\(reply.text) of version \(version)"
        }
        parts += 1
        let field = reply.response.headerFields[.contentRange]
        let range = field?.dropFirst(6).split { $0 == "-" || $0 == "/" } ?? []
        guard range.count == 3, let first = Int(range[0]), let last = Int(range[1]) else {
            return "a part without a range"
        }
        return reply.content.elementsEqual(content[first...last])
            ? nil : "\(reply.text) as a part of version \(version)"
    }

    // MARK: The origin

    /// Replies to a request; nil if the connection is closed without a response.
    mutating func answer(
        _ request: HTTPRequest, to asked: OracleRequest, at now: Int64
    ) -> OriginReply? {
        if chance(10) {
            return chance(50)
                ? nil : OriginReply(response: HTTPResponse(status: .serviceUnavailable))
        }
        if request.method == .head {
            return OriginReply(response: HTTPResponse(status: .methodNotAllowed))
        }
        if request.method != .get {
            let isDone = chance(70)
            if isDone { oracle.invalidate(path: asked.path) }
            return OriginReply(response: HTTPResponse(status: isDone ? .noContent : .conflict))
        }
        let fields = asked.fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let name = "\(asked.scope) \(asked.path) \(fields)"
        if current[name] == nil || chance(30) {
            current[name] = oracle.add(for: asked, OraclePolicy(&random))
        }
        let version = current[name] ?? 0
        let policy = oracle.versions[version].policy
        if !asked.isNoStore { oracle.confirm(version, at: now) }
        var response = HTTPResponse(
            status: .ok, headerFields: policy.fields(version: version, at: now, random: &random))
        let tag = response.headerFields[.eTag]
        let sent = request.headerFields
        if let tag, sent[.ifNoneMatch]?.contains(tag) == true {
            validated += 1
            response.status = .notModified
            return OriginReply(response: response)
        }
        let content = oracle.content(of: version)
        if let range = sent[.range], sent[.ifRange] == nil || sent[.ifRange] == tag {
            let bounds = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            if let first = Int(bounds[0]) {
                let last = min(Int(bounds[1]) ?? 27, 27)
                response.status = .partialContent
                response.headerFields[.contentRange] = "bytes \(first)-\(last)/28"
                return OriginReply(response: response, content: Array(content[first...last]))
            }
        }
        return OriginReply(response: response, content: content)
    }
}

/// Each served response is one that RFC 9111 allows, by the word of an ``Oracle``.
@Suite struct PropertyTests {
    @Test(arguments: [36, 9111] as [UInt64])
    func servesOnlyWhatIsAllowed(seed: UInt64) {
        var play = Play(seed: seed)
        let client = SimulatedClient(byteLimit: 40_000)
        defer { client.origin = { _ in nil } }
        for number in 0..<5_000 {
            client.now += play.pause()
            let asked = OracleRequest(&play.random)
            let before = client.forwarded.count
            client.origin = { play.answer($0, to: asked, at: client.now) }
            let reply = client.send(asked.request, scope: asked.scope)
            let problem = play.problem(
                reply, asked, wasSent: client.forwarded.count > before, at: client.now)
            if let problem {
                Issue.record("seed \(seed), call \(number): \(problem)")
                return
            }
            play.endTurn()
        }
        // The play tests nothing if the cache serves nothing.
        #expect(play.served > 500)
        #expect(play.servedAfterFailure > 5)
        #expect(play.validated > 50)
        #expect(play.parts > 50)
    }
}
