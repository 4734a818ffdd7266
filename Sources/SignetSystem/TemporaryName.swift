/// Names for files and folders that exist for a while.
enum TemporaryName {
    private static let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")

    /// Returns 20 random letters and digits (103 bits), from the system's random numbers.
    static func suffix() -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<20).map { _ in letters[Int.random(in: 0..<36, using: &generator)] })
    }
}
