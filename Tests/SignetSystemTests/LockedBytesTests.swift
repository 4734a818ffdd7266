import Testing

@testable import SignetSystem

/// The pages that hold a copy of a secret. Serialised, because another test could get the address
/// of released pages.
@Suite(.serialized) struct LockedBytesTests {
    struct Missing: Error {}

    /// The flags that the system has for the pages of an address, or nil if it has no such pages.
    private func flags(at address: UInt) throws -> [Substring]? {
        let bytes = try InputFile.read("/proc/self/smaps", limit: 1 << 26)
        let text = String(decoding: bytes, as: UTF8.self)
        var isInside = false
        for line in text.split(separator: "\n") {
            if let range = line.prefixMatch(of: #/([0-9a-f]+)-([0-9a-f]+) /#),
                let start = UInt(range.1, radix: 16), let end = UInt(range.2, radix: 16)
            {
                isInside = (start..<end).contains(address)
            } else if isInside, line.hasPrefix("VmFlags:") {
                return line.split(separator: " ")
            }
        }
        return nil
    }

    @Test(arguments: [0, 1, 4096, 4097])
    func locksItsPagesUntilItIsReleased(_ count: Int) throws {
        let secret = [UInt8](repeating: 0x5a, count: count)
        func lend() throws -> UInt {
            guard let copy = LockedBytes(copying: secret.span) else { throw Missing() }
            let isSame =
                copy.bytes.count == count
                && copy.bytes.indices.allSatisfy {
                    copy.bytes[$0] == 0x5a
                }
            #expect(isSame)
            let flags = try #require(try flags(at: copy.address))
            // Not written to a core file; not to swap, if this process may lock memory.
            #expect(flags.contains("dd"))
            #expect(flags.contains("lo") == copy.isLocked)
            return copy.address
        }
        let released = try lend()
        #expect(try flags(at: released)?.contains("lo") != true)
    }
}
