# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/generations/first_error"

# Tests what counts as the first error of a master that has failed.
class FirstErrorTest < Support::TestCase
  JSON_ENTRY = '{"time":"x","level":"error","message":"cannot be loaded","exception":{"message":"it is\nbroken"}}'
  # { what the master has written => the first error }
  CASES = {
    "2026-11-29T20:11:59.7Z warn 1 - g2 w\n2026-11-29T20:11:59.7Z error 1 - g2 x\n  y\n" => "x",
    "#{JSON_ENTRY.sub('error', 'warn')}\n#{JSON_ENTRY}\n" => "cannot be loaded: it is",
    "{\"time\":\"x\",\"level\":\"error\",nonsense}\n" => nil,
    '{"level":"error","exception":"of the application"}' => '{"level":"error","exception":"of the application"}',
    '{"level":"error","message":"x","exception":[1]}' => "x",
    '{"level":"error","message":"failed","exception":{"message":{"a":1}}}' => "failed",
    "\n2026-11-29T20:11:59.7Z info 1 - g2 x\n/bin/ruby: no such file\nmore\n" => "/bin/ruby: no such file",
    "\xFF\xFE" => "??",
    "" => nil
  }.freeze

  CASES.each do |text, line|
    define_method("test_the_first_error_of_#{text.dump[0, 100]}") do
      assert_equal [line], [Bontebok::FirstError.in(text.b)]
    end
  end
end
