# frozen_string_literal: true

module Support
  # Runs a test again if it fails. The second result counts. The tests in test/timing and test/soak use this module,
  # because other work of the machine can make them fail. The first failure is printed, and bin/test counts such
  # failures.
  module OnceMore
    # The environment variable that names a file. The name of each test that runs again is appended to this file.
    FILE = "BONTEBOK_TEST_AGAIN"

    def run
      result = super
      return result if @second || result.passed? || result.skipped?

      tell(result)
      self.class.new(name).run_second
    end

    protected

    def run_second
      @second = true
      run
    end

    private

    def tell(result)
      puts "\nonce more: #{result.location}", result.failures.map(&:message)
      File.write(ENV.fetch(FILE, File::NULL), "#{result.location}\n", mode: "a")
    end
  end
end
