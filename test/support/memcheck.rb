# frozen_string_literal: true

require "ruby_memcheck"

# Decides which of valgrind's reports are the binding's own faults. The Rakefile's test:memory uses it.
module Memcheck
  # Names of libraries and functions that the gem ruby_memcheck does not know.
  module Frame
    # Debian names its library libruby-3.1.so.3.1.2; the gem knows libruby.so.3.1.2. The gem would take what Ruby does
    # on behalf of the binding for the binding's own work.
    LIBRARY = /\Alibruby-[\d.]+\.so\.#{Regexp.escape(RUBY_VERSION)}\z/
    # Functions that Init_bontebok calls once. Their entries in classes and method tables are not lost.
    INITIALIZER = /\Abbr_init_/

    def in_ruby?
      super || LIBRARY.match?(File.basename(obj.to_s))
    end

    def binary_init_func?
      super || (in_binary? && INITIALIZER.match?(fn))
    end
  end

  # Ruby's library has no symbols here: valgrind has no names for its inner functions.
  module Stack
    def skip?
      super || inside_ruby?
    end

    private

    # Ruby also allocates for itself: an object's bytes, or memory for the garbage collector. When the binding calls
    # ALLOC_N, there is one frame of Ruby between malloc and the binding.
    def inside_ruby?
      frames.drop(1).take_while { |frame| frame.in_ruby? && frame.fn.nil? }.size > 1
    end
  end

  # Ruby frees what it allocates for its own objects, but not if the object is alive at the end.
  RUBY_OBJECTS = /\Arb_(str|ary|hash|st|vm|proc|block_call)/
  # Finalizers and other work that Ruby puts off until it checks for interrupts. The serve loop makes Ruby check.
  PUT_OFF = /\Arb_postponed_job_flush\z/
end

RubyMemcheck::Frame.prepend(Memcheck::Frame)
RubyMemcheck::Stack.prepend(Memcheck::Stack)
RubyMemcheck.config(
  binary_name: "bontebok",
  skipped_ruby_functions: RubyMemcheck::Configuration::DEFAULT_SKIPPED_RUBY_FUNCTIONS +
                          [Memcheck::RUBY_OBJECTS, Memcheck::PUT_OFF]
)
