# frozen_string_literal: true

class VisitsController < ApplicationController
  def count
    session[:count] = session[:count].to_i + 1
    render plain: session[:count].to_s
  end

  def some_cookies
    cookies[:plain] = "a"
    cookies.signed[:signed] = "b"
    session[:count] = 1
    render plain: "#{cookies[:plain]} #{cookies.signed[:signed]}"
  end

  def fail_on_purpose
    raise "on purpose"
  end
end
