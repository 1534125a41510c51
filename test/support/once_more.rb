# frozen_string_literal: true

module Support
  # For a test whose verdict needs time or a free processor, in test/timing and test/soak: if it fails, it runs once
  # more, and the second verdict counts. The first one is printed, and bin/test counts it.
  module OnceMore
    # Names the file that the test's name is added to.
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
