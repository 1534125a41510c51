# frozen_string_literal: true

require_relative "../address"

module Bontebok
  module OptionTypes
    # Makes a value of a configuration file plain, as Ruby itself does for its own methods: an object with to_path or
    # to_str becomes a String, an object with to_int a number, an object with to_ary a list. An IPAddr becomes a
    # String, and a Float without a fraction an Integer. Used by Option.
    module PlainValue
      # Stands for an object that no option accepts. No type accepts this text.
      UNFIT = "\0"

      class << self
        # Raises what a conversion method of the object raises.
        def of(value)
          list = list(value)
          list ? list.map { |one| scalar(one) } : scalar(value)
        end

        private

        # nil: the value is no list.
        def list(value)
          Array.try_convert(value) || (value.to_a if can?(value, :subset?)) # a Set
        end

        def scalar(value)
          case value
          when String then text(value)
          when Float then whole?(value) ? value.to_i : value
          when Integer, Symbol, TrueClass, FalseClass, NilClass, Address then value
          else converted(value)
          end
        end

        def whole?(number)
          number.finite? && number == number.to_i
        end

        def converted(value)
          text = String.try_convert(value) || path(value) || network(value)
          text ? text(text) : number(value) || UNFIT
        end

        # A stream that is no file has no path, but since Ruby 3.2 the method to_path.
        def path(value)
          case value
          when IO then value.path if value.is_a?(File)
          else File.path(value) if can?(value, :to_path)
          end
        end

        # The text of an IPAddr (to_s) has no prefix.
        def network(value)
          "#{value}/#{value.prefix}" if defined?(IPAddr) && IPAddr === value # rubocop:disable Style/CaseEquality
        end

        # The whole number of to_int, or a fraction, for example of a Rational or of ActiveSupport's 0.5.seconds.
        def number(value)
          whole = Integer.try_convert(value) or return
          fraction = value.to_f if can?(value, :to_f)
          fraction && fraction != whole ? fraction : whole
        end

        # A BasicObject has no respond_to?.
        def can?(value, method)
          Kernel.instance_method(:respond_to?).bind_call(value, method)
        end

        def text(text)
          text.encoding.ascii_compatible? ? text : text.encode(Encoding::UTF_8)
        end
      end
    end
  end
end
