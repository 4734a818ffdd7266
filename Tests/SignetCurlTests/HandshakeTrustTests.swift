import Foundation
import SignetPinning
import TestSupport
import Testing

@testable import SignetCurl

/// The CAs that handshakes trust: no system CA vouches for a test's host, so an additional one
/// would not show in a handshake.
@Suite struct HandshakeTrustTests {
    @Test func haveTheCAsOfTheirModeAlone() throws {
        _ = try LibcurlCheck.check()
        let own = try TestAuthority.trusted.get().caFile
        let other = try TestAuthority.rogue.get().caFile
        let pool = TrustPool(caFile: own)
        func count(_ mode: PinAuthorities.Mode?, file: String? = nil) throws -> Int {
            let authorities = try mode.map { try PinAuthorities(file: other, mode: $0) }
            return try pool.trust(caFile: file, authorities: authorities, certificate: nil).count
        }
        #expect(try count(nil) == 1 && count(.replace) == 1 && count(.add) == 2)
        #expect(try count(.replace, file: other) == 1 && count(.add, file: other) == 1)
        let system = TrustPool(caFile: nil)
        let all = try system.trust(caFile: nil, authorities: nil, certificate: nil).count
        let added = try PinAuthorities(file: other, mode: .add)
        #expect(
            try system.trust(caFile: nil, authorities: added, certificate: nil).count == all + 1)
    }

    @Test func areMadeOnce() throws {
        _ = try LibcurlCheck.check()
        let pool = TrustPool(caFile: try TestAuthority.trusted.get().caFile)
        let first = try pool.trust(caFile: nil, authorities: nil, certificate: nil)
        let second = try pool.trust(caFile: nil, authorities: nil, certificate: nil)
        #expect(first === second)
    }
}
