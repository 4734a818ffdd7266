extension [UInt8] {
    /// Returns `count` bytes, at least one; nil if the closure that writes all of them returns
    /// false.
    ///
    /// Making an array of 32 bytes with `init(unsafeUninitializedCapacity:)` takes three times the
    /// instructions, because the compiler doesn't specialize it (benchmark `sigv4-sign`).
    @inline(__always) static func written(
        count: Int, by write: (UnsafeMutableBufferPointer<UInt8>) -> Bool
    ) -> [UInt8]? {
        assert(count > 0)
        var bytes: [UInt8] = []
        var isWritten = false
        bytes.append(addingCapacity: count) { (target: inout OutputSpan<UInt8>) in
            unsafe target.withUnsafeMutableBufferPointer { target, written in
                isWritten = unsafe write(target)
                written = isWritten ? count : 0
            }
        }
        return isWritten ? bytes : nil
    }
}
