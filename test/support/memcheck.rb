# frozen_string_literal: true

require "ruby_memcheck"

# Which of valgrind's reports are the binding's own faults. Used by the Rakefile's test:memory.
module Memcheck
  # What differs here from what the gem expects of a frame.
  module Frame
    # Debian names its library libruby-3.1.so.3.1.2, the gem knows libruby.so.3.1.2; it would take what Ruby does on
    # behalf of the binding for the binding's own.
    LIBRARY = /\Alibruby-[\d.]+\.so\.#{Regexp.escape(RUBY_VERSION)}\z/
    # Called by Init_bontebok, once; what they leave in classes and method tables is not lost.
    INITIALIZER = /\Abbr_init_/

    def in_ruby?
      super || LIBRARY.match?(File.basename(obj.to_s))
    end

    def binary_init_func?
      super || (in_binary? && INITIALIZER.match?(fn))
    end
  end

  # A library without symbols: valgrind has no names for its inner functions.
  module Stack
    def skip?
      super || inside_ruby?
    end

    private

    # Ruby allocates for itself, an object's bytes or what the garbage collector needs. When the binding calls
    # ALLOC_N, there is one frame of Ruby between malloc and the binding.
    def inside_ruby?
      frames.drop(1).take_while { |frame| frame.in_ruby? && frame.fn.nil? }.size > 1
    end
  end

  # What Ruby allocates for its own objects is Ruby's to free, and not freed for those that are alive at the end.
  RUBY_OBJECTS = /\Arb_(str|ary|hash|st|vm|proc|block_call)/
  # Finalizers and other work that Ruby has put off until it looks for interrupts, which the serve loop has it do.
  PUT_OFF = /\Arb_postponed_job_flush\z/
end

RubyMemcheck::Frame.prepend(Memcheck::Frame)
RubyMemcheck::Stack.prepend(Memcheck::Stack)
RubyMemcheck.config(
  binary_name: "bontebok",
  skipped_ruby_functions: RubyMemcheck::Configuration::DEFAULT_SKIPPED_RUBY_FUNCTIONS +
                          [Memcheck::RUBY_OBJECTS, Memcheck::PUT_OFF]
)
