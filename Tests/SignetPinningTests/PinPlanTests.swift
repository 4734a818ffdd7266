import SignetPinning
import Testing

private let a = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
private let b = "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="
private let c = "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="

/// The plan of pins, certificates and requests at a given time.
@Suite struct PinPlanTests {
    private static let now: Int64 = 1_795_228_551
    private static let day: Int64 = 86_400

    private func certificate(
        _ pin: String, from: Int64 = -100, to: Int64
    ) throws -> PinPlan.Material {
        PinPlan.Material(
            kind: .certificate, pin: try Pin(parsing: pin), subject: "CN=api.example",
            hosts: ["api.example"], notBefore: Self.now + from * Self.day,
            notAfter: Self.now + to * Self.day,
            source: "host.pem")
    }

    private func request(_ pin: String, subject: String = "CN=api.example") throws
        -> PinPlan.Material
    {
        PinPlan.Material(
            kind: .request, pin: try Pin(parsing: pin), subject: subject, source: "next.csr")
    }

    private func plan(_ rule: String, _ materials: [PinPlan.Material]) throws -> PinPlan {
        let policy = try PinPolicy(parsing: Array("{\"hosts\":{\(rule)}}".utf8))
        return PinPlan(policy: policy, materials: materials, now: Self.now)
    }

    private static let two = #""api.example":{"pins":["\#(a)","\#(b)"]}"#

    @Test func findsNothingInAGoodPlan() throws {
        let plan = try plan(Self.two, [certificate(a, to: 200), request(b)])
        #expect(plan.findings.isEmpty)
        #expect(plan.hosts.map(\.until) == [Self.now + 200 * Self.day])
        #expect(plan.hosts[0].pins.map(\.state) == [.inUse, .reserve])
    }

    @Test func saysWhenAPinIsLost() throws {
        let plan = try plan(Self.two, [certificate(a, to: 20), request(b)])
        #expect(plan.findings.map(\.code) == ["ends-soon"])
        #expect(plan.findings.first?.pin?.text == a)
        #expect(plan.findings.first?.at == Self.now + 20 * Self.day)
        #expect(plan.findings.first?.message.contains("2026-12-11T") == true)
    }

    /// Only the end of a client certificate matters, in the last second and after it.
    @Test func namesClientCertificatesThatEnd() throws {
        let policy = try PinPolicy(parsing: Array("{\"hosts\":{\(Self.two)}}".utf8))
        func findings(_ clients: [PinPlan.Material], now: Int64 = Self.now) throws
            -> [PinPlan.Finding]
        {
            PinPlan(
                policy: policy, materials: try [certificate(a, to: 200), request(b)],
                clientCertificates: clients, now: now
            ).findings
        }
        #expect(try findings([certificate(c, to: 31)]).isEmpty)
        #expect(try findings([certificate(c, from: 5, to: 200)]).isEmpty)
        let soon = try #require(try findings([certificate(c, to: 30)]).first)
        #expect(soon.code == "client-certificate-ends-soon" && soon.severity == .warning)
        #expect(soon.at == Self.now + 30 * Self.day && soon.host == nil && soon.pin == nil)
        #expect(soon.message.contains("CN=api.example") && soon.message.contains("host.pem"))
        let last = try certificate(c, to: 0)
        #expect(try findings([last]).map(\.code) == ["client-certificate-ends-soon"])
        let ended = try #require(try findings([last], now: Self.now + 1).first)
        #expect(ended.code == "client-certificate-ended" && ended.severity == .error)
        #expect(ended.message.contains("ended at"))
        let all = try findings([
            certificate(c, to: 31), certificate(b, to: 1), certificate(a, to: -1),
        ])
        #expect(
            all.map(\.code) == ["client-certificate-ends-soon", "client-certificate-ended"])
    }

    @Test func namesPinsWithoutAKey() throws {
        let plan = try plan(Self.two, [certificate(a, to: 200)])
        #expect(plan.findings.map(\.code) == ["no-reserve", "no-key"])
        #expect(plan.findings.first?.severity == .warning)
        #expect(plan.findings.last?.message.contains(b) == true)
        let soon = try self.plan(Self.two, [certificate(a, to: 20)])
        #expect(soon.findings.map(\.code) == ["no-reserve", "ends-soon", "no-key"])
        #expect(soon.findings.first?.severity == .error)
    }

    @Test func namesHostsThatAreCutOff() throws {
        let nothing = try plan(Self.two, [])
        #expect(nothing.findings.map(\.code) == ["cut-off", "no-key", "no-key"])
        #expect(nothing.hosts[0].until == nil)
        let past = try plan(Self.two, [certificate(a, to: -1)])
        #expect(past.findings.map(\.code) == ["cut-off", "ended", "no-key"])
        let ready = try plan(Self.two, [certificate(a, to: -1), request(b)])
        #expect(ready.findings.map(\.code) == ["cut-off", "ended"])
        #expect(ready.findings.first?.message.contains("in reserve") == true)
    }

    @Test func countsCertificatesToComeAsReserve() throws {
        let plan = try plan(
            Self.two, [certificate(a, to: 40), certificate(b, from: 10, to: 400)])
        #expect(plan.findings.isEmpty)
        #expect(plan.hosts[0].pins[1].state == .reserve)
        // The same key in a renewed certificate: the later end counts.
        let renewed = try self.plan(
            Self.two, [certificate(a, to: 5), certificate(a, from: -1, to: 90), request(b)])
        #expect(renewed.findings.isEmpty)
        #expect(renewed.hosts[0].until == Self.now + 90 * Self.day)
    }

    @Test func namesThePinsToAdd() throws {
        let next = try plan(Self.two, [certificate(a, to: 200), request(b), request(c)])
        #expect(next.findings.map(\.code) == ["not-pinned"])
        #expect(next.findings.first?.severity == .warning)
        #expect(next.findings.first?.message.contains(c) == true)
        let shown = try plan(
            Self.two, [certificate(a, to: 200), request(b), certificate(c, to: 90)])
        #expect(shown.findings.map(\.severity) == [.error])
        let wide = try plan(
            #""**.example":{"pins":["\#(a)","\#(b)"]}"#,
            [
                certificate(a, to: 200), request(b), request(c, subject: "O=x, CN=*.example"),
                request(c, subject: "CN=other.test"), request(c, subject: ""),
            ])
        #expect(wide.findings.map(\.code) == ["not-pinned", "unused", "unused"])
    }

    @Test func takesNoHostFromACertificatesCommonName() throws {
        func codes(
            _ subject: String, _ hosts: String..., kind: PinPlan.Material.Kind = .certificate
        ) throws -> [String] {
            let stranger = PinPlan.Material(
                kind: kind, pin: try Pin(parsing: c), subject: subject, hosts: hosts,
                notBefore: Self.now - 1, notAfter: Self.now + 90 * Self.day, source: "new.pem")
            return try plan(Self.two, [certificate(a, to: 200), request(b), stranger]).findings
                .map(\.code)
        }
        #expect(try codes("", "other.test", "API.example") == ["not-pinned"])
        #expect(try codes("CN=Example Ltd", "api.example") == ["not-pinned"])
        #expect(try codes("CN=Example Ltd", "*.example") == ["not-pinned"])
        #expect(try codes("CN=*.example") == ["unused"])
        #expect(try codes("CN=api.example") == ["unused"])
        // A CA adds the common name of a request to the alternative names.
        #expect(try codes("CN=*.example", kind: .request) == ["not-pinned"])
        #expect(try codes("CN=api.example", "other.test", kind: .request) == ["unused"])
        #expect(try codes("CN=Example Ltd", "*.api.example", "example") == ["unused"])
        #expect(try codes("CN=api.example", "other.test") == ["unused"])
        #expect(try codes("CN=other.test", "no host", "127.0.0.1") == ["unused"])
        #expect(try codes("CN=Example Ltd") == ["unused"])
    }

    @Test func namesEachRuleThatACertificateIsFor() throws {
        let stranger = PinPlan.Material(
            kind: .request, pin: try Pin(parsing: c), subject: "", source: "next.csr")
        let named = PinPlan.Material(
            kind: .request, pin: try Pin(parsing: c), subject: "", hosts: ["x.a.test", "[::1]"],
            source: "next.csr")
        let rules = #""*.a.test":{"pins":["\#(a)"]},"::1":{"pins":["\#(a)"]}"#
        let plan = try plan(rules, [stranger, named])
        let found = plan.findings.filter { $0.code == "not-pinned" }
        #expect(found.map(\.host) == ["*.a.test", "::1"])
        #expect(plan.findings.last?.code == "unused")
    }

    @Test func looksAtTheRulesOwnDate() throws {
        let chain = try [certificate(a, to: 200), request(b)]
        func codes(_ more: String) throws -> [String] {
            try plan(#""api.example":{"pins":["\#(a)","\#(b)"],\#(more)}"#, chain).findings
                .map(\.code)
        }
        #expect(try codes(#""expires":"2027-06-30""#) == [])
        #expect(try codes(#""expires":"2026-12-01""#) == ["rule-expires-soon"])
        #expect(try codes(#""expires":"2026-11-20""#) == ["rule-expired"])
    }

    @Test func leavesExclusionsOut() throws {
        let plan = try plan(
            #""api.example":{"exclude":true}"#, [certificate(a, to: 200)])
        #expect(plan.hosts.isEmpty)
        #expect(plan.findings.map(\.code) == ["unused"])
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func takesAnyTime(_ now: Int64) throws {
        let policy = try PinPolicy(parsing: Array("{\"hosts\":{\(Self.two)}}".utf8))
        let plan = PinPlan(
            policy: policy, materials: [try certificate(a, to: 1)], now: now, horizon: .max)
        #expect(plan.findings.contains { $0.code == "no-key" })
    }
}
