import HTTPTypes
import SignetBase
import SignetCache
import TestSupport
import Testing

/// Each served response is one that RFC 9111 allows, by the word of an ``Oracle``.
@Suite struct PropertyTests {
    /// Plays random callers, a random origin and a clock against one cache.
    final class Play {
        var random: SplitMix
        var oracle = Oracle()
        let client: SimulatedClient
        /// The newest version of each path, scope and variant.
        private var current: [String: Int] = [:]
        private var failed = false
        private(set) var served = 0
        private(set) var servedAfterFailure = 0
        private(set) var validated = 0
        private(set) var parts = 0

        init(seed: UInt64) {
            random = SplitMix(seed: seed)
            client = SimulatedClient(byteLimit: 40_000)
        }

        private func chance(_ percentage: Int) -> Bool {
            Int.random(in: 0..<100, using: &random) < percentage
        }

        /// Returns a broken rule, or nil.
        func step() -> String? {
            client.now += chance(60) ? Int64.random(in: 0...20, using: &random) : 0
            let asked = OracleRequest(&random)
            let before = client.forwarded.count
            failed = false
            client.origin = { [self] in answer($0, to: asked) }
            defer { client.origin = { _ in nil } }
            let reply = client.send(asked.request, scope: asked.scope)
            let status = reply.response.headerFields[HTTPField.Name("Cache-Status")!] ?? ""
            let wasSent = client.forwarded.count > before
            let isHit = status.contains("signet;hit")
            if asked.isOnlyIfCached, wasSent { return "only-if-cached was sent" }
            if isHit || status.contains("stale-if-error") {
                if isHit { served += 1 } else { servedAfterFailure += 1 }
                return problem(reply, asked, afterFailure: !isHit)
            }
            if !wasSent, reply.response.status.code != 504 { return "served without a status" }
            // A response that the origin has just sent or confirmed has its bytes.
            return reply.response.status.code < 300 && asked.method == .get
                ? contentProblem(reply) : nil
        }

        private func problem(
            _ reply: ClientReply, _ asked: OracleRequest, afterFailure: Bool
        ) -> String? {
            let fields = reply.response.headerFields
            guard let version = fields[HTTPField.Name("X-Version")!].flatMap({ Int($0) }),
                let age = fields[.age].flatMap({ Int64($0) })
            else { return "served without a version or an Age" }
            // The background request of stale-while-revalidate may have confirmed it since.
            let objection = oracle.objection(
                to: version, age: age, for: asked, at: client.now, afterFailure: afterFailure)
            return objection ?? (asked.method == .get ? contentProblem(reply) : nil)
        }

        private func contentProblem(_ reply: ClientReply) -> String? {
            let fields = reply.response.headerFields
            guard let version = fields[HTTPField.Name("X-Version")!].flatMap({ Int($0) }) else {
                return nil
            }
            let whole = Oracle.content(of: version)
            guard reply.response.status == .partialContent else {
                return reply.content == whole ? nil : "\(reply.text) of version \(version)"
            }
            parts += 1
            let range = fields[.contentRange]?.dropFirst(6).split { $0 == "-" || $0 == "/" } ?? []
            guard range.count == 3, let first = Int(range[0]), let last = Int(range[1]) else {
                return "a part without a range"
            }
            return reply.content.elementsEqual(whole[first...last])
                ? nil : "\(reply.text) as a part of version \(version)"
        }

        private func answer(_ request: HTTPRequest, to asked: OracleRequest) -> OriginReply? {
            if chance(10) {
                failed = true
                return chance(50)
                    ? nil : OriginReply(response: HTTPResponse(status: .serviceUnavailable))
            }
            if request.method == .head {
                return OriginReply(response: HTTPResponse(status: .methodNotAllowed))
            }
            if request.method != .get {
                let isDone = chance(70)
                if isDone { oracle.invalidate(path: asked.path) }
                return OriginReply(
                    response: HTTPResponse(status: isDone ? .noContent : .conflict))
            }
            let fields = asked.fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let name = "\(asked.scope) \(asked.path) \(fields)"
            if current[name] == nil || chance(30) {
                current[name] = oracle.add(for: asked, OraclePolicy(&random))
            }
            let version = current[name] ?? 0
            let policy = oracle.versions[version].policy
            if !asked.isNoStore { oracle.confirm(version, at: client.now) }
            var response = HTTPResponse(
                status: .ok,
                headerFields: policy.fields(version: version, at: client.now, random: &random))
            let tag = response.headerFields[.eTag]
            let sent = request.headerFields
            if let tag, sent[.ifNoneMatch]?.contains(tag) == true {
                validated += 1
                response.status = .notModified
                return OriginReply(response: response)
            }
            let content = Oracle.content(of: version)
            if let range = sent[.range], sent[.ifRange] == nil || sent[.ifRange] == tag {
                let bounds = range.dropFirst(6).split(
                    separator: "-", omittingEmptySubsequences: false)
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

    @Test(arguments: [36, 9111] as [UInt64])
    func servesOnlyWhatIsAllowed(seed: UInt64) {
        let play = Play(seed: seed)
        for number in 0..<5_000 {
            if let problem = play.step() {
                Issue.record("call \(number): \(problem)")
                return
            }
        }
        // The play tests nothing if the cache serves nothing.
        #expect(play.served > 500)
        #expect(play.servedAfterFailure > 5)
        #expect(play.validated > 50)
        #expect(play.parts > 50)
    }
}
