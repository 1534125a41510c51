# frozen_string_literal: true

module Support
  # For the tests in test/timing and test/soak: other work of the machine can make them fail. A test that fails runs
  # again, and the second result counts. The first failure is printed, and bin/test counts such failures.
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
