import HTTPTypes
import SignetJSON
import SignetPinning
import SignetRPC
import SignetTesting
import SignetTransport
import TestSupport
import Testing

@testable import SignetClient

/// A service whose calls are merged, on an engine that holds requests.
struct MergingFixture {
    typealias Outcome = Result<UnboxedResponse, ClientError>

    let engine = HeldEngine()
    let clock = PauseClock()

    func system(
        _ merging: CallMerging = CallMerging(),
        change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        try await Pipeline.system(engine, payload: .jsonRPC2) {
            $0.use(clock)
        } changeService: {
            $0.options.merging = merging
            change(&$0)
        }
    }

    /// Begins a call with the parameter `n`.
    static func call(
        _ number: Int64, on system: NetworkSystem, method: RPCMethod = "n", path: String? = nil,
        isNotification: Bool = false, change: (inout RequestOptions) -> Void = { _ in }
    ) -> Task<Outcome, Never> {
        var options = RequestOptions()
        change(&options)
        let given = options
        return Task {
            let call = RPCCall(
                method, parameters: .object(["n": .number(JSONNumber(number))]),
                isNotification: isNotification)
            do throws(ClientError) {
                return .success(try await system.call(call, on: "a", path: path, options: given))
            } catch {
                return .failure(error)
            }
        }
    }

    /// The result, `nothing` without one, or the error's code.
    static func name(_ outcome: Outcome) -> String {
        switch outcome {
        case .success(let response): response.result.map { text($0.bytes) } ?? "nothing"
        case .failure(let error): error.code.name
        }
    }

    /// Begins a call that is out, and others that wait in their order.
    func begin(
        _ numbers: [Int64], on system: NetworkSystem
    ) async throws -> [Task<Outcome, Never>] {
        var calls: [Task<Outcome, Never>] = []
        for number in numbers {
            calls.append(Self.call(number, on: system))
            let (count, merger) = (calls.count, system.pipeline.merger)
            #expect(
                try await eventually {
                    engine.heldCount == 1 && merger.waitingCount == count - 1
                })
        }
        return calls
    }
}

/// A source of credentials of one user.
struct ScopedToken: CredentialSource {
    let scope: String
    func credential(
        replacing old: Credential?, for call: CallIdentity
    ) async throws -> Credential { .bearer(scope) }
}
