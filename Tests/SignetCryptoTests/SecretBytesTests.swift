import TestSupport
import Testing

@testable import SignetCrypto
@testable import SignetSystem

/// Secret bytes, which are wiped, and compared in constant time.
@Suite struct SecretBytesTests {
    private struct Interrupted: Error {}

    @Test func containsTheGivenBytes() {
        let secret = SecretBytes(copying: bytes("secret").span)
        #expect(copy(secret) == bytes("secret") && secret.count == 6)
        let none = SecretBytes(copying: Span())
        #expect(none.count == 0 && copy(none).isEmpty)
    }

    @Test func wipesALiveBuffer() {
        #expect(SecretBytes.wipesALiveBuffer(of: 4096))
    }

    @Test func aFailedFillingIsThrown() {
        #expect(throws: Interrupted.self) {
            try discard(
                SecretBytes(count: 8) { (target: inout MutableSpan<UInt8>) throws(Interrupted) in
                    target[0] = 1
                    throw Interrupted()
                })
        }
    }

    @Test func wipedArraysAreEmpty() {
        var array = bytes("secret")
        wipe(&array)
        #expect(array.isEmpty)
        wipe(&array)
        #expect(array.isEmpty)
    }

    @Test(arguments: [
        ("", "", true), ("a", "a", true), ("ab", "ab", true), ("", "a", false), ("a", "", false),
        ("ab", "aa", false), ("ba", "aa", false), ("aa", "aaa", false),
    ])
    func comparesInConstantTime(_ left: String, _ right: String, _ isEqual: Bool) {
        #expect(constantTimeEqual(bytes(left), bytes(right)) == isEqual)
    }

    @Test(arguments: [0, 1, 16, 100_000])
    func randomBytesHaveTheirCount(_ count: Int) throws {
        #expect(try RandomBytes.bytes(count).count == count)
        let secret = try RandomBytes.secret(count)
        #expect(secret.count == count)
        if count >= 16 { #expect(try RandomBytes.bytes(count) != RandomBytes.bytes(count)) }
    }

    @Test(arguments: [-1, Int.min, Int(Int32.max) + 1])
    func randomBytesRefuseTheCount(_ count: Int) {
        #expect(throws: CryptoFailure.self) { try RandomBytes.bytes(count) }
        #expect(throws: CryptoFailure.self) { try discard(RandomBytes.secret(count)) }
    }
}
