import Foundation
import SignetCurl
import SignetPinning
import SignetTransport

/// The nginx on loopback that `Scripts/bench` starts.
struct BenchHost {
    let authority: Authority
    let caFile: String
    /// Pins the host's root.
    let policy: PinPolicy

    /// The host of `SIGNET_BENCH_HOST`, trusted by `SIGNET_BENCH_CA`.
    init() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let host = environment["SIGNET_BENCH_HOST"], let ca = environment["SIGNET_BENCH_CA"]
        else { throw WrongResult(what: "no host to measure with: run make bench") }
        authority = try Authority(parsing: host)
        caFile = ca
        var settings = EngineSettings()
        settings.caFile = ca
        let engine = try CurlEngine(settings)
        let chain = try await engine.probe(authority).chain
        await engine.shutdown()
        guard let root = chain.last else { throw WrongResult(what: "the host shows no chain") }
        policy = try PinPolicy(rules: [PinRule(host: authority.host.text, pins: [root.pin])])
    }
}
