# frozen_string_literal: true

require "test_helper"
require_relative "support/framework_cases"

class MojoliciousTest < Interop::FrameworkCases
  def application = "mojolicious"

  def test_a_form_with_a_token_is_accepted
    at_each_entrance do |browser|
      token = browser.get("/token").body[/name="csrf_token" [^>]*value="(\w+)"/, 1]
      replies = [token, "wrong"].map { |value| browser.post_form("/token", "csrf_token" => value).body }
      assert_equal %w[accepted refused], replies
    end
  end

  def test_a_promise_is_fulfilled
    at_each_entrance do |browser|
      response = browser.get("/later")
      assert_equal [200, "later"], [response.status, response.body]
    end
  end
end
