# frozen_string_literal: true

module Support
  # An application that fails at a given step, in a given way.
  class Failing
    STEPS_BEFORE = %i[call triplet status headers field_name field_value array_part first_part to_ary].freeze
    STEPS_AFTER = %i[later_part stream].freeze
    STEPS = [*STEPS_BEFORE, *STEPS_AFTER, :close].freeze

    # An object that calls its block when one of the named conversions is called.
    class Trap < BasicObject
      def initialize(*names, &failure)
        @names = names
        @failure = failure
      end

      def respond_to?(name, *)
        @names.include?(name)
      end

      def method_missing(name, *)
        @names.include?(name) ? @failure.call : super
      end

      def respond_to_missing?(name, *)
        @names.include?(name)
      end

      def class
        ::Support::Failing::Trap
      end

      # This object can be a key of a Hash. All objects of this class have the same hash value.
      def hash
        0
      end

      def eql?(other)
        equal?(other)
      end
    end

    # A body that counts the calls of close.
    class Body
      attr_reader :closed

      def initialize(each = nil, close: nil, **methods)
        @each = each
        @close = close
        @closed = 0
        methods.each { |name, method| define_singleton_method(name, &method) }
        define_singleton_method(:each) { |&block| each.call(block) } if each
      end

      def close
        @closed += 1
        @close&.call
      end
    end

    attr_reader :body

    def initialize(step, &failure)
      @step = step
      @failure = failure
      @body = body_of(step)
    end

    def call(_env)
      @failure.call if @step == :call
      return trap_on(:to_ary) if @step == :triplet

      [at(:status, :to_i) || 200, headers, body]
    end

    private

    def trap_on(*names)
      Trap.new(*names, &@failure)
    end

    def at(step, name)
      trap_on(name) if @step == step
    end

    def headers
      return trap_on(:each) if @step == :headers

      { "x-before" => "1", at(:field_name, :to_s) || "x-name" => at(:field_value, :to_s) || "value" }
    end

    def body_of(step)
      failure = @failure
      part = trap_on(:to_str)
      case step
      when :array_part then Body.new(to_ary: -> { ["a", part] }, closed?: -> { false })
      when :to_ary then Body.new(to_ary: -> { failure.call }, closed?: -> { false })
      when :first_part then Body.new(->(out) { out.call(part) })
      when :later_part then Body.new(->(out) { [out.call("sent"), failure.call] })
      when :stream then Body.new(call: ->(stream) { (stream << "sent") && failure.call })
      when :close then Body.new(->(out) { out.call("whole") }, close: failure)
      else Body.new(->(out) { out.call("never sent") })
      end
    end
  end
end
