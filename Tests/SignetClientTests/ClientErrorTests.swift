import Foundation
import SignetClient
import SignetRPC
import SignetTransport
import TestSupport
import Testing

/// One failure has one code and one kind, and every code is a constant.
@Suite struct ClientErrorTests {
    @Test(
        .features("002-09"),
        arguments: [
            (.timeout, .noResponse), (.connect, .noResponse), (.cutOff, .noResponse),
            (.pinMismatch, .noResponse), (.cleartextToPinnedHost, .noResponse),
            (.httpStatus, .refused), (.rpcError, .refused), (.businessCode, .refused),
            (.tooManyRedirects, .refused), (.malformedResponse, .malformed),
            (.responseTooLarge, .malformed), (.typeMismatch, .malformed),
            (.wrongDigest, .malformed),
            (.cancelled, .local), (.notRunning, .local), (.invalidRequest, .local),
            (.resources, .local), (.trustStore, .local), (.bodyFailed, .local),
            (.invalidParameters, .local), (.keyTooShort, .local), (.refusedURL, .local),
        ] as [(ClientError.Code, ClientError.Kind)])
    func aCodeHasOneKind(_ code: ClientError.Code, _ kind: ClientError.Kind) {
        #expect(code.kind == kind, "\(code)")
        #expect(ClientError(code, "").kind == kind)
    }

    @Test(.features("002-09")) func theKindIsTheSameWhereverTheFailureIsNoticed() {
        let seen: [(ClientError, ClientError)] = [
            (
                ClientError(TransportError(.malformedResponse, "")),
                ClientError(RPCError(.malformedResponse, ""))
            ),
            (
                ClientError(TransportError(.responseTooLarge, "")),
                ClientError(RPCError(.responseTooLarge, ""))
            ),
            (
                ClientError(TransportError(.notRunning, "")),
                ClientError(.notRunning, "")
            ),
        ]
        for (left, right) in seen {
            #expect(left.code == right.code && left.kind == right.kind, "\(left.code)")
        }
    }

    /// Reads the codes of the modules whose errors a `ClientError` can have, and checks that each
    /// has a constant.
    @Test(arguments: [
        "SignetTransport/TransportError.swift", "SignetVault/VaultError.swift",
    ])
    func everyCodeThatIsHandedOnIsAConstant(_ file: String) throws {
        func text(_ path: String) throws -> String {
            String(
                decoding: try Data(contentsOf: PackageLayout.url("Sources/\(path)")), as: UTF8.self)
        }
        let constants = try text("SignetClient/Errors/ClientError+Codes.swift")
        let code = /public static let (\w+) = Code\(/
        let names = try text(file).matches(of: code).map { String($0.1) }
        #expect(names.count > 15)
        for name in names { #expect(constants.contains("static let \(name) = Self("), "\(name)") }
    }
}
