# frozen_string_literal: true

require_relative "chunked_test"
require_relative "expect_test"

# The same cases with unbuffered_bodies: the application is called before the body has come.
[ChunkedTest, ExpectTest].each do |buffered|
  unbuffered = Class.new(buffered) do
    def arguments = super + %w[--unbuffered-bodies /]
  end
  Object.const_set("Unbuffered#{buffered.name}", unbuffered)
end
