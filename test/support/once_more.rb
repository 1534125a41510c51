# frozen_string_literal: true

module Support
  # For tests whose verdict needs time or a free processor, in test/timing and test/soak. A test that fails runs once
  # more, and the second verdict counts. The first failure is printed, and bin/test counts it.
  module OnceMore
    # The environment variable with the name of the file to which the test's name is added.
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
